// Gossip: what mixing keeps, that nobody is needed, and that a run can be repeated.
#include "tests/sync/scattered.h"
#include "tests/sync/serial_workers.h"

namespace lockstep {
namespace {

const std::vector<int> kCounts{1, 2, 3, 4};

std::vector<std::string> gossip(int count, const std::vector<std::string>& more) {
  return of_strategy("gossip", count, more);
}

TEST(Gossip, WithoutItWorkersAreAlone) {
  for (const int count : ranks_under_test(kCounts)) {
    expect_alone(*world_under_test(),
                 quadratic_job(gossip(count, {"sync.probability=0", "optim.momentum=0.9"})));
  }
}

TEST(Gossip, WeightsAddUpAndMixingKeepsTheWeightedSum) {
  for (const int count : ranks_under_test(kCounts)) {
    for (const char* probability : {"0.3", "1"}) {
      const Job job = quadratic_job(
          gossip(count, {"optim.lr=0", std::string("sync.probability=") + probability}));
      mix_scattered(*world_under_test(), job, [&](int meeting, Learner& learner) {
        expect_average_kept(learner, real_in_state(learner, "sync.weight"), meeting);
      });
    }
  }
}

// The model that all workers end with, with a meeting half-way; at the first rank's process also
// who was heard when.
Weights train_in_two(World& world, const Job& job, ArrivalRecord& record) {
  std::vector<Weights> models(static_cast<std::size_t>(job.placement().workers));
  world.run(job.placement().workers, [&](Transport& transport) {
    Learner learner(transport, job);
    BatchSource source(job, transport.rank());
    std::int64_t own = 0;
    train_until(learner, source, 0, job.plan().steps() / 2, own);
    train_until(learner, source, own, job.plan().steps(), own);
    learner.finish(own);
    auto noted = gather_arrivals(learner.group(), job, learner.take_arrivals());
    if (transport.rank() == 0) record = std::move(noted);
    const auto params = learner.replica().params();
    models[static_cast<std::size_t>(transport.rank())].assign(params.begin(), params.end());
  });
  if (!models.front().empty() && world_under_test_name() != "mpi") {
    for (const Weights& one : models) EXPECT_EQ(one, models.front());
  }
  return models.front();
}

TEST(Gossip, AReplayRepeatsARunBitForBit) {
  const auto threads = Registry<World>::instance().make("threads");
  for (const int count : ranks_under_test(kCounts)) {
    const auto settings = gossip(count, {"sync.probability=0.6", "optim.momentum=0.9"});
    ArrivalRecord record, repeated;
    const Weights model = train_in_two(*world_under_test(), quadratic_job(settings), record);
    if (model.empty()) continue;  // the first rank was in another process
    Job again = quadratic_job(settings);
    again.replay(record);
    EXPECT_EQ(train_in_two(*threads, again, repeated), model) << count;
    EXPECT_EQ(repeated, record) << count;
  }
}

}  // namespace
}  // namespace lockstep
