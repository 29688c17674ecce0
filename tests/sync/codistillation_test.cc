// Laws of codistillation, on every world, with the linear model.
#include <gmock/gmock.h>

#include "lockstep/base/error.h"
#include "lockstep/sync/teachers.h"
#include "lockstep/transport/forwarding.h"
#include "tests/linear_model.h"
#include "tests/optim/memory_state.h"
#include "tests/sync/strategy_runs.h"

namespace lockstep {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

// Of 2 groups of 2 workers, one worker has one sample more than the other.
constexpr std::size_t kSamples = 102;

using Settings = std::vector<std::string>;

Job linear_job(std::shared_ptr<const Dataset> samples, const Settings& settings) {
  Config config;
  config.set({"model.name=fake", "train.local_batch=4", "train.epochs=3", "data.validation=0",
              "data.normalise=false", "cluster.merge=1", "optim.lr=0.1", "optim.momentum=0.9"});
  config.set(settings);
  return Job(config, {std::move(samples), std::make_shared<LinearModel>()}, 0);
}

Settings codistilled(int count, int groups, const Settings& more = {}) {
  Settings all{workers(count), "sync.name=codistillation", "sync.groups=" + std::to_string(groups)};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

Weights weights_of(Learner& learner) {
  const auto params = learner.replica().params();
  return {params.begin(), params.end()};
}

struct Outcome {
  std::vector<Weights> before;    // finish(), by worker; empty: of another process
  std::vector<Weights> finished;  // of this process
};

Outcome run(World& world, const Job& job) {
  Outcome result;
  result.before.resize(static_cast<std::size_t>(job.placement().workers));
  result.finished = train_all(world, job, [&](int rank, Learner& learner) {
    result.before[static_cast<std::size_t>(rank)] = weights_of(learner);
  });
  return result;
}

TEST(Codistillation, OneGroupIsSynchronous) {
  const auto threads = Registry<World>::instance().make("threads");
  for (const int count : ranks_under_test({1, 2, 3, 4})) {
    const Outcome one =
        run(*world_under_test(), linear_job(three_directions(kSamples), codistilled(count, 1)));
    const Outcome synchronous =
        run(*threads, linear_job(three_directions(kSamples), {workers(count)}));
    for (const Weights& weights : one.finished) EXPECT_EQ(weights, synchronous.finished.front());
  }
}

// By the batch of a group, not of all.
constexpr const char* kScaled = "schedule.scale=linear";

// Every second sample: what a group of two has, when nothing is shuffled.
std::shared_ptr<const Dataset> share_of(int group) {
  const auto all = three_directions(kSamples);
  auto share = std::make_shared<Dataset>(*all);
  const auto& values = std::get<AlignedVector<float>>(all->values);
  AlignedVector<float> own;
  share->labels.clear();
  for (auto i = static_cast<std::size_t>(group); i < kSamples; i += 2) {
    own.insert(own.end(), {values[2 * i], values[2 * i + 1]});
    share->labels.push_back(all->labels[i]);
  }
  share->values = std::move(own);
  share->samples = share->first_test = share->labels.size();
  return share;
}

TEST(Codistillation, UntaughtGroupsTrainAsIfAlone) {
  const auto world = world_with_room_for(4);
  const auto threads = Registry<World>::instance().make("threads");
  std::vector<Weights> alone;
  for (const int group : {0, 1}) {
    const Job job = linear_job(share_of(group), {workers(2), "assign.shuffle=none", kScaled});
    alone.push_back(run(*threads, job).finished.front());
  }
  EXPECT_NE(alone[0], alone[1]);
  for (const char* untaught : {"sync.burn_in=1000", "sync.weight=0"}) {
    for (const char* via : {"aggregate.via=allreduce", "aggregate.via=server"}) {
      const Outcome here =
          run(*world, linear_job(three_directions(kSamples),
                                 codistilled(4, 2,
                                             {untaught, via, "assign.name=household-shards",
                                              "assign.shuffle=none", kScaled})));
      for (std::size_t i = 0; i < 4; ++i) {
        if (!here.before[i].empty()) {
          EXPECT_EQ(here.before[i], alone[i / 2]) << untaught << via;
        }
      }
      for (const Weights& weights : here.finished) EXPECT_EQ(weights, alone[0]) << "the first's";
    }
  }
}

struct Lesson {
  int groups;
  bool ring;
  std::int64_t period, burn_in;
  double weight, temperature;

  Settings settings() const {
    return {"optim.momentum=0",
            std::string("sync.topology=") + (ring ? "ring" : "all"),
            "sync.period=" + std::to_string(period),
            "sync.burn_in=" + std::to_string(burn_in),
            "sync.weight=" + std::to_string(weight),
            "sync.temperature=" + std::to_string(temperature)};
  }
};

// Groups of one worker, written out one after the other: who learns at which step from which models
// of which age.
std::vector<Weights> written_out(const Job& job, const Lesson& lesson) {
  const auto groups = static_cast<std::size_t>(lesson.groups);
  std::vector<std::unique_ptr<Replica>> replicas;
  std::vector<BatchSource> sources;
  for (std::size_t g = 0; g < groups; ++g) {
    replicas.push_back(job.model().make(job.model_settings()));
    sources.emplace_back(job, static_cast<int>(g));
  }
  std::vector<AlignedVector<float>> exchanged;
  for (std::int64_t step = 0; step < job.plan().steps(); ++step) {
    if (step >= lesson.burn_in && (step - lesson.burn_in) % lesson.period == 0) {
      exchanged.clear();
      for (const auto& replica : replicas) exchanged.push_back(model_of(*replica));
    }
    for (std::size_t g = 0; g < groups; ++g) {
      Replica& replica = *replicas[g];
      Batch batch;
      sources[g].fill(step, batch);
      if (step >= lesson.burn_in) {
        Teachers teachers;
        teachers.start(replica, lesson.ring ? 1 : lesson.groups - 1);
        for (int i = 0; i < teachers.size(); ++i) {
          const auto& model = exchanged[(g + 1 + static_cast<std::size_t>(i)) % groups];
          std::ranges::copy(model, teachers.model(i).begin());
        }
        teachers.predict(replica, lesson.temperature, batch);
        batch.soft.weight = static_cast<float>(lesson.weight);
      }
      replica.forward_backward(batch, 1, {});
      const auto optimizer = job.make_optimizer();
      optimizer->prepare(replica.layers());
      optimizer->update(step, job.rates(step), replica.params(), replica.grads(), 0,
                        replica.layers().size());
    }
  }
  std::vector<Weights> result;
  for (const auto& replica : replicas) {
    result.emplace_back(replica->params().begin(), replica->params().end());
  }
  return result;
}

TEST(Codistillation, TeachersAreWhatWasExchangedLast) {
  const std::vector<Lesson> lessons{{2, false, 5, 7, 1, 1},
                                    {2, false, 1, 0, 0.5, 3},
                                    {3, false, 4, 0, 2, 1},
                                    {3, true, 4, 6, 1, 0.5}};
  for (const Lesson& lesson : lessons) {
    const auto world = world_with_room_for(lesson.groups);
    const Job job = linear_job(three_directions(kSamples),
                               codistilled(lesson.groups, lesson.groups, lesson.settings()));
    const auto expected = written_out(job, lesson);
    Lesson later = lesson;
    later.period += 1;
    EXPECT_NE(written_out(job, later), expected) << "the period does not matter";
    const Outcome here = run(*world, job);
    for (std::size_t g = 0; g < expected.size(); ++g) {
      if (!here.before[g].empty()) {
        EXPECT_EQ(here.before[g], expected[g]) << "group " << g;
      }
    }
  }
}

TEST(Codistillation, EveryExchangeIsAccountedFor) {
  for (const bool ring : {false, true}) {
    const Lesson lesson{3, ring, 4, 6, 1, 1};
    const auto world = world_with_room_for(3);
    const Job job = linear_job(three_directions(kSamples), codistilled(3, 3, lesson.settings()));
    // After step 5, the last without teachers, and every fourth from there.
    const auto exchanges = (job.plan().steps() - lesson.burn_in) / lesson.period + 1;
    train_all(*world, job, [&](int, Learner& learner) {
      const auto model = learner.replica().params().size() + learner.replica().buffers().size();
      const auto teachers = static_cast<std::size_t>(ring ? 1 : 2);
      EXPECT_EQ(learner.bytes_sent(),
                static_cast<std::size_t>(exchanges) * teachers * model * sizeof(float));
    });
  }
}

TEST(Codistillation, EveryWorldComputesTheSameBits) {
  const auto threads = Registry<World>::instance().make("threads");
  for (const int count : ranks_under_test({2, 4})) {
    for (const int groups : {2, count}) {
      for (const char* topology : {"sync.topology=all", "sync.topology=ring"}) {
        const Job job = linear_job(
            three_directions(kSamples),
            codistilled(count, groups,
                        {topology, "sync.period=3", "sync.burn_in=0.25", "sync.temperature=2"}));
        const Outcome here = run(*world_under_test(), job), there = run(*threads, job);
        for (std::size_t i = 0; i < here.before.size(); ++i) {
          if (!here.before[i].empty()) {
            EXPECT_EQ(here.before[i], there.before[i]) << topology;
          }
        }
      }
    }
  }
}

TEST(Codistillation, MembersOfAGroupStayTheSame) {
  const auto threads = Registry<World>::instance().make("threads");
  const Outcome here =
      run(*threads, linear_job(three_directions(kSamples), codistilled(4, 2, {"sync.period=3"})));
  EXPECT_EQ(here.before[0], here.before[1]);
  EXPECT_EQ(here.before[2], here.before[3]);
  EXPECT_NE(here.before[0], here.before[2]);
}

TEST(Codistillation, TheFirstGroupsModelIsShownAndLeft) {
  const auto world = world_with_room_for(4);
  const Job job = linear_job(three_directions(kSamples), codistilled(4, 2, {"sync.period=3"}));
  std::vector<Weights> shown(4), own(4), kept(4);
  const auto finished = train_all(*world, job, [&](int rank, Learner& learner) {
    const auto at = static_cast<std::size_t>(rank);
    EXPECT_TRUE(learner.consistent());
    own[at] = weights_of(learner);
    learner.with_model([&] { shown[at] = weights_of(learner); });
    kept[at] = weights_of(learner);
  });
  std::erase_if(shown, [](const Weights& one) { return one.empty(); });
  EXPECT_EQ(shown, finished);
  EXPECT_EQ(kept, own);
  if (!own[0].empty()) {
    EXPECT_EQ(finished.front(), own[0]);
  }
}

TEST(Codistillation, ResumedIsNeverStopped) {
  const auto world = world_with_room_for(4);
  for (const char* topology : {"sync.topology=all", "sync.topology=ring"}) {
    const Job job = linear_job(three_directions(kSamples),
                               codistilled(4, 4, {topology, "sync.period=4", "sync.burn_in=5"}));
    const std::int64_t total = job.plan().steps(), stop = 11;  // teachers are two steps old
    world->run(4, [&](Transport& transport) {
      const auto train = [&](Learner& learner, std::int64_t from, std::int64_t until) {
        BatchSource source(job, transport.rank());
        std::int64_t own = from;
        train_until(learner, source, from, until, own);
      };
      Learner never_stopped(transport, job), stopped(transport, job), resumed(transport, job);
      train(never_stopped, 0, total);
      train(stopped, 0, stop);
      MemoryState state;
      stopped.state(state);
      state.restore();
      resumed.state(state);
      train(resumed, stop, total);
      EXPECT_EQ(weights_of(resumed), weights_of(never_stopped)) << topology;
    });
  }
}

class ChargeCount : public ForwardingTransport {
 public:
  using ForwardingTransport::ForwardingTransport;
  void charge(double seconds) override {
    charged += seconds;
    inner_.charge(seconds);
  }
  double charged = 0;
};

TEST(Codistillation, TeachersTakeAThirdOfAStepEach) {
  const Lesson lesson{3, false, 4, 6, 1, 1};
  const auto world = world_with_room_for(3);
  const Job job = linear_job(three_directions(kSamples), codistilled(3, 3, lesson.settings()));
  world->run(3, [&](Transport& transport) {
    ChargeCount counted(transport);
    Learner learner(counted, job);
    BatchSource source(job, transport.rank());
    double samples = 0;
    for (std::int64_t step = 0; step < job.plan().steps(); ++step) {
      Batch batch;
      source.fill(step, batch);
      learner.learn(step, step, batch, false);
      const double passes = step < lesson.burn_in ? 1 : 1 + 2 / 3.0;
      samples += passes * static_cast<double>(batch.size());
    }
    EXPECT_NEAR(counted.charged, samples * learner.replica().modelled_seconds(), 1e-12);
  });
}

TEST(Codistillation, BatchNormIsSharedWithinAGroupOnly) {
  const auto job = [](const Settings& more) {
    return linear_job(three_directions(kSamples), codistilled(4, 2, more));
  };
  EXPECT_EQ(job({"train.batch_norm=shared"}).statistics_workers(), 2);
  EXPECT_THAT(
      [&] {
        job({"train.batch_norm=shared", "train.batch_norm_workers=4"});
      },
      ThrowsMessage<ConfigError>(HasSubstr("must divide 2 workers of a group")));
}

TEST(Codistillation, WhatCannotBeIsRefused) {
  EXPECT_THAT([] { linear_job(three_directions(kSamples), codistilled(4, 3)); },
              ThrowsMessage<ConfigError>(HasSubstr("groups = 3 does not divide 4 workers")));
  const auto threads = Registry<World>::instance().make("threads");
  EXPECT_THAT([&] { train_quadratic(*threads, codistilled(2, 2)); },
              ThrowsMessage<ConfigError>(HasSubstr("cannot be a teacher")));
}

TEST(Teachers, SoftTargetsAreTheMeanOfSoftenedPredictions) {
  const auto samples = three_directions(4);
  LinearReplica replica({.data = samples->shape});
  Teachers teachers;
  teachers.start(replica, 2);
  // Scores that do not depend on the sample: all weights zero, biases (a, b, c).
  const auto set = [](std::span<float> model, float a, float b, float c) {
    std::ranges::fill(model, 0.0f);
    model[6] = a, model[7] = b, model[8] = c;
  };
  set(teachers.model(0), 2 * std::log(2.0f), 0, 0);  // T = 2: (2, 1, 1) / 4
  set(teachers.model(1), 0, 0, 2 * std::log(3.0f));  // (1, 1, 3) / 5
  Batch batch;
  batch.shape = samples->shape;
  batch.ids = {0, 1};
  batch.labels = {0, 0};
  batch.values.assign(4, 1.0f);
  const auto before = model_of(replica);
  teachers.predict(replica, 2, batch);
  EXPECT_EQ(model_of(replica), before);
  ASSERT_EQ(batch.soft.probabilities.size(), 6u);
  const std::vector<double> mean{0.35, 0.225, 0.425};
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_NEAR(batch.soft.probabilities[i], mean[i % 3], 1e-6) << i;
  }
}

}  // namespace
}  // namespace lockstep
