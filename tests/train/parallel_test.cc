// Models in stages, on every world, with a network written out by hand: a pipeline computes what
// one worker with the whole model does.
#include "lockstep/train/parallel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <mutex>

#include "lockstep/base/error.h"
#include "lockstep/train/checkpoint.h"
#include "lockstep/train/seat.h"
#include "tests/linear_model.h"
#include "tests/staged_model.h"
#include "tests/train/run_folder.h"
#include "tests/training.h"
#include "tests/world_under_test.h"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr std::size_t kLayers = 5, kWidth = 3;

std::shared_ptr<const Dataset> dataset(std::size_t samples = 53) {
  auto dataset = std::make_shared<Dataset>();
  dataset->name = "three corners";
  dataset->shape = {DataShape::Kind::kVector, {kWidth}, kWidth, 0};
  dataset->samples = dataset->first_test = samples;
  AlignedVector<float> values;
  for (std::size_t i = 0; i < samples; ++i) {
    Random random(7, "corners", 0, i);
    const std::size_t label = random.below(kWidth);
    dataset->labels.push_back(static_cast<std::int64_t>(label));
    for (std::size_t c = 0; c < kWidth; ++c) {
      values.push_back(static_cast<float>((c == label ? 1 : 0) + 0.3 * random.normal()));
    }
  }
  dataset->values = std::move(values);
  return dataset;
}

Job make_job(const Settings& settings, std::size_t layers = kLayers) {
  Config config;
  config.set({"model.name=fake", "train.local_batch=12", "train.epochs=2", "data.validation=0",
              "assign.shuffle=once", "optim.lr=0.1", "optim.momentum=0.9", "cluster.merge=1",
              "data.normalise=false"});
  config.set(settings);
  return Job(config, {dataset(), std::make_shared<StagedModel>(layers)}, 0);
}

std::string set(const std::string& key, int value) {
  return key + "=" + std::to_string(value);
}

// The parts of the model that the ranks of this process hold at the end, by stage and worker.
using Parts = std::map<std::pair<int, int>, Weights>;

Parts train_parts(World& world, const Job& job) {
  std::mutex mutex;
  Parts parts;
  world.run(job.placement().ranks(), [&](Transport& transport) {
    Learner learner(transport, job);
    const int worker = learner.group().index();
    learner.start();
    BatchSource source(job, worker);
    std::int64_t own = 0;
    learner.finish(train_until(learner, source, 0, job.plan().steps(), own));
    learner.rest();
    const auto params = learner.replica().params();
    const std::lock_guard lock(mutex);
    parts[{learner.seat().stage(), worker}].assign(params.begin(), params.end());
  });
  return parts;
}

Weights trained_whole(const Settings& settings, int workers) {
  const auto threads = Registry<World>::instance().make("threads");
  const Job job = make_job(with(settings, {set("cluster.workers", workers)}));
  return train_parts(*threads, job).at({0, 0});
}

// Every part is the same part of `whole`, to rounding.
void expect_parts_of(const Weights& whole, const Parts& parts, const Job& job, double tolerance) {
  for (const auto& [place, params] : parts) {
    Range range{0, whole.size()};
    if (job.parallel() != nullptr) {
      const StagePlan plan = job.parallel()->plan();
      ASSERT_EQ(plan.params, whole.size());
      range = plan.stages[static_cast<std::size_t>(place.first)].params;
    }
    ASSERT_EQ(params.size(), range.size);
    for (std::size_t i = 0; i < params.size(); ++i) {
      ASSERT_NEAR(params[i], whole[range.begin + i], tolerance)
          << "stage " << place.first << ", worker " << place.second;
    }
  }
}

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

TEST(ParallelSettings, WrongOnesAreRefusedInWords) {
  const auto refused = [](const Settings& settings, const auto& matcher) {
    EXPECT_THAT(
        [&] {
          make_job(with({"cluster.workers=4", "parallel.stages=2"}, settings));
        },
        ThrowsMessage<ConfigError>(matcher))
        << testing::PrintToString(settings);
  };
  refused({"sync.name=asynchronous"}, HasSubstr("stay in step"));
  refused({"sync.name=gossip"}, HasSubstr("stay in step"));
  refused({"sync.name=codistillation"}, HasSubstr("no predictions"));
  refused({"train.precision=fp16"}, HasSubstr("bf16"));
  refused({"cluster.jitter=0.5"}, HasSubstr("cluster file"));
  refused({"aggregate.via=server", "aggregate.servers=1"}, HasSubstr("beside the workers"));
  refused({"parallel.stages=3"}, AllOf(HasSubstr("do not divide"), HasSubstr("1, 2, 4")));
  refused({"parallel.replicas=3"}, AllOf(HasSubstr("are 6 ranks"), HasSubstr("workers = 4")));
  refused({"cluster.workers=6", "parallel.stages=6"},
          AllOf(HasSubstr("at most 5 stages"), HasSubstr("layer0, layer1")));
  refused({"parallel.cuts=layer9"}, HasSubstr("unknown unit \"layer9\""));
  refused({"parallel.cuts=layer1,layer2"}, HasSubstr("makes 3 stages"));
  refused({"parallel.stages=1", "parallel.cuts=layer1"}, HasSubstr("stages = 1"));
  refused({"parallel.stages=1", "parallel.memory=300", "train.local_batch=1"},
          HasSubstr("smallest number of stages that does is 3"));
  refused({"parallel.schedule=2f2b"}, HasSubstr("1f1b"));
  refused({"cluster.workers=4", "parallel.stages=4", "parallel.cuts=layer2,layer1,layer3"},
          HasSubstr("does not come behind"));
}

TEST(ParallelSettings, ModelsThatCannotBeCutAreRefused) {
  Config config;
  config.set({"model.name=fake", "cluster.workers=2", "parallel.stages=2"});
  EXPECT_THAT(
      [&] {
        Job(config, {dataset(), std::make_shared<LinearModel>()}, 0);
      },
      ThrowsMessage<ConfigError>(HasSubstr("cannot be cut into stages")));
}

// A stage of one layer takes 9 parameters, their gradients and velocity (108 bytes), the
// activations of a sample (12), and messages and their gradients (24 on each side).
TEST(ParallelSettings, AModelTooLargeIsToldTheFewestStagesThatFit) {
  const Settings tight{"cluster.workers=2", "parallel.stages=2", "train.local_batch=1"};
  EXPECT_NO_THROW(make_job(with(tight, {"parallel.memory=1K"})));
  EXPECT_THAT(
      [&] { make_job(with(tight, {"parallel.memory=320"})); },
      ThrowsMessage<ConfigError>(HasSubstr("the smallest number of stages that does is 3")));
  EXPECT_THAT([&] { make_job(with(tight, {"parallel.memory=100"})); },
              ThrowsMessage<ConfigError>(HasSubstr("however it is cut")));
  EXPECT_THAT(
      [&] {
        make_job(with(tight, {"parallel.memory=460", "parallel.cuts=layer1"}));
      },
      ThrowsMessage<ConfigError>(HasSubstr("with these [parallel] cuts")));
}

}  // namespace
}  // namespace lockstep
