// Who teaches whom, when, and at what cost: held to the same training written out by hand.
#include <gtest/gtest.h>

#include "lockstep/sync/teachers.h"
#include "lockstep/transport/forwarding.h"
#include "tests/sync/codistillation_runs.h"

namespace lockstep {
namespace {

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
