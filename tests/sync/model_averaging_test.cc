// Synchronous model averaging: the formula, and its restart when the rate drops.
#include "tests/sync/serial_workers.h"

namespace lockstep {
namespace {

const std::vector<int> kCounts{1, 2, 3, 4};

std::vector<std::string> averaging(int count, const std::vector<std::string>& more) {
  std::vector<std::string> settings{"sync.name=model-averaging", workers(count)};
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

// The formula as the paper has it, on workers one after the other.
struct Reference {
  explicit Reference(const Job& job) : learners(job) {}

  void step(std::int64_t index, double alpha, double mu) {
    const Weights before = centre;
    std::vector<Weights> corrections;
    for (std::size_t j = 0; j < learners.size(); ++j) {
      const auto w = learners.params(j);
      corrections.push_back(
          learners.each([&](std::size_t i) { return alpha * (w[i] - before[i]); }));
    }
    learners.learn(index);
    centre = learners.each([&](std::size_t i) {
      double sum = before[i] + mu * (before[i] - previous[i]);
      for (std::size_t j = 0; j < learners.size(); ++j) {
        learners.params(j)[i] -= corrections[j][i];
        sum += corrections[j][i];
      }
      return sum;
    });
    previous = before;
  }

  void restart() {
    previous = centre;
    for (std::size_t j = 0; j < learners.size(); ++j) {
      std::ranges::copy(centre, learners.params(j).begin());
      learners.optimizer(j).reset();
    }
  }

  SerialWorkers learners;
  Weights centre = first_weights(), previous = centre;
};

TEST(ModelAveraging, WithoutPullAndMomentumLearnersAreAlone) {
  for (const int count : ranks_under_test(kCounts)) {
    const auto settings = averaging(count, {"sync.pull=0", "sync.momentum=0"});
    const Weights model = train_quadratic(*world_under_test(), settings);
    if (!model.empty()) {
      EXPECT_EQ(model, first_weights()) << count;
    }
    expect_alone(*world_under_test(), quadratic_job(settings));
  }
}

TEST(ModelAveraging, CorrectsLearnersAndMovesTheCentre) {
  for (const int count : ranks_under_test(kCounts)) {
    for (const double mu : {0.9, 0.3}) {
      auto settings = averaging(count, {"optim.momentum=0.5", "train.steps=12"});
      if (mu == 0.3) settings.insert(settings.end(), {"sync.momentum=0.3", "sync.pull=0.2"});
      const Job job = quadratic_job(settings);
      Reference reference(job);
      for (std::int64_t step = 0; step < job.plan().steps(); ++step) {
        reference.step(step, mu == 0.3 ? 0.2 : 1.0 / count, mu);
      }
      expect_near_all(*world_under_test(), job, reference.learners);
      const Weights model = train_quadratic(*world_under_test(), settings);
      if (!model.empty()) expect_near(model, reference.centre, 1e-4);
    }
  }
}

TEST(ModelAveraging, RestartsFromTheCentreWhenTheRateDrops) {
  for (const int count : ranks_under_test(kCounts)) {
    for (const char* factor : {"2", "4", "0"}) {  // the rate drops to a third
      const auto settings = averaging(
          count, {"optim.momentum=0.9", "train.epochs=1", "schedule.name=step", "schedule.at=[0.5]",
                  "schedule.factor=0.33", std::string("sync.restart=") + factor});
      const Job job = quadratic_job(settings);
      Reference reference(job);
      int drops = 0;
      for (std::int64_t step = 0; step < job.plan().steps(); ++step) {
        if (step > 0 && job.rates(step).lr < job.rates(step - 1).lr) {
          ++drops;
          if (std::string(factor) == "2") reference.restart();
        }
        reference.step(step, 1.0 / count, 0.9);
      }
      EXPECT_EQ(drops, 1);
      expect_near_all(*world_under_test(), job, reference.learners);
      const Weights model = train_quadratic(*world_under_test(), settings);
      if (!model.empty()) expect_near(model, reference.centre, 1e-4);
    }
  }
}

TEST(ModelAveraging, RefusesToRestartWithoutADrop) {
  EXPECT_THROW(quadratic_job(averaging(2, {"sync.restart=1"})), ConfigError);
}

}  // namespace
}  // namespace lockstep
