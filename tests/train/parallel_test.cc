// Models in stages, on every world, with a network written out by hand: a pipeline computes what
// one worker with the whole model does.
#include <gmock/gmock.h>

#include "lockstep/base/error.h"
#include "tests/train/parallel_runs.h"

namespace lockstep {
namespace {

using testing::HasSubstr;

std::string cuts_of(int stages) {
  return stages == 2 ? "parallel.cuts=layer2" : "parallel.cuts=layer1,layer3,layer4";
}

TEST(Parallel, APipelineIsTheWholeModel) {
  const Weights whole = trained_whole({}, 1);
  for (const int stages : ranks_under_test({2, 4})) {
    for (const char* schedule : {"sequential", "gpipe", "1f1b"}) {
      for (const int microbatches : {1, 3, 5}) {
        for (const char* recompute : {"false", "true"}) {
          const Job job = make_job({set("cluster.workers", stages), set("parallel.stages", stages),
                                    set("parallel.microbatches", microbatches), cuts_of(stages),
                                    std::string("parallel.schedule=") + schedule,
                                    std::string("parallel.recompute=") + recompute});
          expect_parts_of(whole, train_parts(*world_under_test(), job), job, 2e-6);
        }
      }
    }
  }
}

// What samples of a micro-batch add up to does not depend on where the network is cut, nor on how
// many there are.
TEST(Parallel, CutsChangeNoBit) {
  const Weights whole = trained_whole({}, 1);
  for (const int stages : ranks_under_test({2})) {
    for (const char* cut : {"layer1", "layer3", "layer4"}) {
      const Job job = make_job({set("cluster.workers", stages), set("parallel.stages", stages),
                                "parallel.microbatches=4", std::string("parallel.cuts=") + cut});
      expect_parts_of(whole, train_parts(*world_under_test(), job), job, 0);
    }
  }
}

// Every stage's replicas keep together as workers with whole models do.
TEST(Parallel, StagesGoWithStrategiesAggregationsAndCompressors) {
  const std::vector<Settings> ways{{},
                                   {"aggregate.algorithm=ring"},
                                   {"aggregate.via=server"},
                                   {"sync.name=local", "sync.period=3"},
                                   {"sync.name=post-local"},
                                   {"sync.name=warm-local"},
                                   {"sync.name=adacomm"},
                                   {"sync.name=households", "sync.households=2"},
                                   {"sync.name=elastic"},
                                   {"sync.name=block-momentum"},
                                   {"sync.name=model-averaging"},
                                   {"sync.name=neighbours"},
                                   {"sync.name=one-shot"},
                                   {"overlap.name=wfbp"},
                                   {"overlap.name=mg-wfbp", "aggregate.algorithm=ring"},
                                   {"compress.name=fp16", "compress.plain_below=0"},
                                   {"optim.name=lars"},
                                   {"optim.name=adamw", "optim.lr=0.01"}};
  for (const Settings& way : ways) {
    const std::string named = way.empty() ? "synchronous" : way.front();
    const Weights whole = trained_whole(way, 2);
    for (const int ranks : ranks_under_test({4})) {
      const Job job = make_job(
          with(way, {set("cluster.workers", ranks), "parallel.stages=2", "parallel.replicas=2",
                     "parallel.microbatches=3", "parallel.cuts=layer2"}));
      SCOPED_TRACE(named);
      // 16-bit numbers round small differences up to large ones.
      expect_parts_of(whole, train_parts(*world_under_test(), job), job,
                      named.starts_with("compress") ? 2e-3 : 1e-5);
    }
  }
}

// The first worker has fewer samples left than the others have micro-batches, then none.
TEST(Parallel, BatchesMayBeShortOrEmpty) {
  const Settings uneven{"assign.name=unequal", "assign.weights=1,5", "train.epochs=3"};
  const Weights whole = trained_whole(uneven, 2);
  for (const int ranks : ranks_under_test({4})) {
    const Job job = make_job(with(uneven, {set("cluster.workers", ranks), "parallel.stages=2",
                                           "parallel.microbatches=4", "parallel.cuts=layer3"}));
    expect_parts_of(whole, train_parts(*world_under_test(), job), job, 1e-5);
  }
}

TEST(Parallel, EvaluatesWhatTheWholeModelDoes) {
  const auto tallies_of = [](World& world, const Job& job) {
    Tallies found;
    world.run(job.placement().ranks(), [&](Transport& transport) {
      Learner learner(transport, job);
      std::vector<SampleId> samples(50);
      for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = static_cast<SampleId>(i);
      learner.start();
      learner.finish(0);
      const Tallies tallies = learner.validate(samples);
      if (transport.rank() == 0) found = tallies;
      EXPECT_EQ(tallies.samples, 50);  // all ranks know
      EXPECT_EQ(tallies.labels, 50);
      learner.rest();
    });
    return found;
  };
  const auto threads = Registry<World>::instance().make("threads");
  const Tallies whole = tallies_of(*threads, make_job({"cluster.workers=1"}));
  for (const int ranks : ranks_under_test({2, 4})) {
    const Tallies cut = tallies_of(*world_under_test(),
                                   make_job({set("cluster.workers", ranks), "parallel.stages=2",
                                             "parallel.microbatches=3", "parallel.cuts=layer2"}));
    if (cut.samples == 0) continue;  // rank 0 is in another process
    EXPECT_NEAR(cut.loss, whole.loss, 1e-4);
    EXPECT_EQ(cut.correct, whole.correct);
  }
}

TEST(Parallel, OneBackwardForEveryForwardKeepsFewActivations) {
  const auto one = Registry<PipelineSchedule>::instance().make("1f1b");
  const auto all = Registry<PipelineSchedule>::instance().make("gpipe");
  EXPECT_THAT(in_flight(*one, 4, 16), testing::ElementsAre(4, 3, 2, 1));
  EXPECT_THAT(in_flight(*all, 4, 16), testing::Each(16));
}

// Whoever waits hears which rank failed and in what.
TEST(Parallel, ADeadStageEndsTheRun) {
  for (const int ranks : ranks_under_test({4})) {
    const Job job = make_job({set("cluster.workers", ranks), "parallel.stages=4",
                              "parallel.microbatches=3", cuts_of(4)});
    const auto run = [&] {
      world_under_test()->run(ranks, [&](Transport& transport) {
        Learner learner(transport, job);
        learner.start();
        BatchSource source(job, 0);
        Batch batch;
        for (std::int64_t step = 0; step < 4; ++step) {
          source.fill(step, batch);
          if (step == 2 && transport.rank() == 2) throw TrainingError("stage 2 is on fire");
          learner.learn(step, step, batch, false);
        }
      });
    };
    EXPECT_THAT(run, testing::Throws<std::exception>(testing::Property(
                         &std::exception::what, HasSubstr("stage 2 is on fire"))));
  }
}

}  // namespace
}  // namespace lockstep
