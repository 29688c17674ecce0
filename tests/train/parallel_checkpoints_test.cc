// A model in stages goes on from its checkpoint as if it had never stopped, with other cuts too.
#include <gmock/gmock.h>

#include "lockstep/train/checkpoint.h"
#include "tests/train/parallel_runs.h"
#include "tests/train/run_folder.h"

namespace lockstep {
namespace {

class ParallelCheckpoints : public FolderTest {
 protected:
  static Job job_of(const Settings& settings) {
    return make_job(with({"optim.name=adam", "optim.lr=0.01"}, settings));
  }
  static Settings cut_at(int workers, int stages, const std::string& cuts) {
    return {set("cluster.workers", workers * stages), set("parallel.stages", stages),
            "parallel.microbatches=3", "parallel.cuts=" + cuts};
  }

  // Trains `steps` steps and saves.
  void begin(const Settings& settings, std::int64_t steps) {
    const Job job = job_of(settings);
    world_under_test()->run(job.placement().ranks(), [&](Transport& transport) {
      Group everyone = group_of_everyone(transport);
      Learner learner(transport, job);
      BatchSource source(job, learner.group().index());
      std::int64_t own = 0;
      learner.start();
      train_until(learner, source, 0, steps, own);
      learner.rest();
      save_checkpoint(
          everyone, path("saved"), {own, 0, 0, ""},
          [&](StateVisitor& visitor) { learner.state(visitor); }, 1, learner.seat().plan());
    });
  }

  // Goes on from there to the end.
  Parts go_on(const Settings& settings) {
    const Job job = job_of(settings);
    std::mutex mutex;
    Parts parts;
    world_under_test()->run(job.placement().ranks(), [&](Transport& transport) {
      Group everyone = group_of_everyone(transport);
      Learner learner(transport, job);
      BatchSource source(job, learner.group().index());
      const auto loaded =
          load_checkpoint(everyone, path("saved"), OtherWorkers::kRefuse, learner.seat().plan());
      ASSERT_TRUE(loaded.has_value());
      EXPECT_THAT(loaded->restore([&](StateVisitor& visitor) { learner.state(visitor); }),
                  testing::IsEmpty());
      learner.replica().apply_update();
      learner.start();
      std::int64_t own = loaded->meta().step;
      train_until(learner, source, own, job.plan().steps(), own);
      learner.rest();
      const auto params = learner.replica().params();
      const std::lock_guard lock(mutex);
      parts[{learner.seat().stage(), learner.group().index()}].assign(params.begin(), params.end());
    });
    return parts;
  }
};

TEST_F(ParallelCheckpoints, GoOnWithOtherCutsOrNone) {
  const Weights straight = trained_whole({"optim.name=adam", "optim.lr=0.01"}, 1);
  const std::map<int, Settings> ways{{1, {"cluster.workers=1"}},
                                     {2, cut_at(1, 2, "layer3")},
                                     {4, cut_at(1, 4, "layer1,layer2,layer4")}};
  for (const int before : ranks_under_test({1, 2, 4})) {
    for (const int after : ranks_under_test({1, 2, 4})) {
      SCOPED_TRACE(fmt::format("from {} stages to {}", before, after));
      begin(ways.at(before), 4);
      expect_parts_of(straight, go_on(ways.at(after)), job_of(ways.at(after)), 0);
    }
  }
}

TEST_F(ParallelCheckpoints, KeepWhatEveryWorkerHasOfItsOwn) {
  for (const int ranks : ranks_under_test({4})) {
    const Settings local =
        with(cut_at(ranks / 2, 2, "layer2"), {"sync.name=local", "sync.period=5"});
    begin(local, 0);
    const Parts straight = go_on(local);
    begin(local, 3);  // between two agreements
    EXPECT_EQ(go_on(local), straight);
  }
}

}  // namespace
}  // namespace lockstep
