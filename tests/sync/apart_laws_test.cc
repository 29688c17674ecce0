// What must hold of every strategy that keeps models apart: a run that stops at a meeting and goes
// on in fresh workers is the run that never stopped, bit for bit; and strategies that wait compute
// the same bits on every world.
#include "lockstep/base/state_store.h"
#include "lockstep/collective/collectives.h"
#include "tests/sync/strategy_runs.h"

namespace lockstep {
namespace {

using Settings = std::vector<std::string>;

const std::vector<Settings> kWaiting{
    {"sync.name=elastic", "sync.period=3"},
    {"sync.name=elastic", "sync.period=2", "aggregate.via=server"},
    {"sync.name=model-averaging", "schedule.name=step"},
    {"sync.name=neighbours", "sync.graph=ring"},
    {"sync.name=neighbours", "sync.graph=torus"},
    {"sync.name=neighbours", "sync.graph=exponential"},
};
const std::vector<Settings> kNeverWaiting{
    {"sync.name=elastic", "sync.period=3", "sync.asynchronous=true"},
    {"sync.name=gossip", "sync.probability=0.6"},
};

Settings with(Settings settings, int count) {
  settings.insert(settings.end(), {workers(count), "optim.momentum=0.9"});
  return settings;
}

TEST(ApartLaws, EveryWorldComputesTheSameBits) {
  const auto threads = Registry<World>::instance().make("threads");
  for (const Settings& strategy : kWaiting) {
    for (const int count : ranks_under_test({1, 2, 3, 4})) {
      const Weights here = train_quadratic(*world_under_test(), with(strategy, count));
      if (here.empty()) continue;  // this process had no rank
      EXPECT_EQ(here, train_quadratic(*threads, with(strategy, count))) << strategy[0] << count;
    }
  }
}

// What the workers leave: their models at the end, who came when in the second half, and their
// states half-way.
struct Sitting {
  explicit Sitting(int workers)
      : models(static_cast<std::size_t>(workers)), arrivals(models.size()), states(models.size()) {}

  std::vector<Weights> models;
  ArrivalRecord arrivals;
  std::vector<std::unique_ptr<StateStore>> states;
};

void finish_run(Learner& learner, BatchSource& source, const Job& job, std::size_t rank,
                std::int64_t own, Sitting& sitting) {
  learner.start();
  train_until(learner, source, own, job.plan().steps(), own);
  learner.finish(own);
  learner.rest();
  sitting.arrivals[rank] = learner.take_arrivals();
  const auto params = learner.replica().params();
  sitting.models[rank].assign(params.begin(), params.end());
}

void expect_resumes(const Settings& settings, int count) {
  const Job job = quadratic_job(settings);
  Sitting whole(count), second(count);
  world_under_test()->run(count, [&](Transport& transport) {
    const auto rank = static_cast<std::size_t>(transport.rank());
    Learner learner(transport, job);
    BatchSource source(job, transport.rank());
    std::int64_t own = 0;
    learner.start();
    train_until(learner, source, 0, job.plan().steps() / 2, own);
    learner.rest();
    barrier(learner.group());  // a shard may not rest yet
    learner.take_arrivals();
    whole.states[rank] = std::make_unique<StateStore>([&](StateVisitor& v) { learner.state(v); });
    finish_run(learner, source, job, rank, own, whole);
  });
  // Who comes when is not part of the state: the second sitting is told.
  Job again = quadratic_job(settings);
  again.replay(whole.arrivals);
  world_under_test()->run(count, [&](Transport& transport) {
    const auto rank = static_cast<std::size_t>(transport.rank());
    Learner learner(transport, again);
    BatchSource source(again, transport.rank());
    whole.states[rank]->restore([&](StateVisitor& v) { learner.state(v); });
    learner.replica().apply_update();
    finish_run(learner, source, again, rank, again.plan().steps() / 2, second);
  });
  EXPECT_EQ(second.models, whole.models) << settings[0] << count;
}

TEST(ApartLaws, ARunThatGoesOnIsTheRunThatNeverStopped) {
  for (const auto* strategies : {&kWaiting, &kNeverWaiting}) {
    for (const Settings& strategy : *strategies) {
      for (const int count : ranks_under_test({1, 2, 3, 4}))
        expect_resumes(with(strategy, count), count);
    }
  }
}

}  // namespace
}  // namespace lockstep
