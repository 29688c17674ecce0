// Elastic averaging: the formula, and what must hold of both its forms.
#include "tests/sync/serial_workers.h"

namespace lockstep {
namespace {

const std::vector<int> kCounts{1, 2, 3, 4};

std::vector<std::string> elastic(int count, const std::vector<std::string>& more) {
  return of_strategy("elastic", count, more);
}

TEST(Elastic, WithoutPullTheCentreStaysAndWorkersAreAlone) {
  for (const char* form : {"sync.asynchronous=false", "sync.asynchronous=true"}) {
    for (const int count : ranks_under_test(kCounts)) {
      const auto settings = elastic(count, {"sync.pull=0", "sync.period=2", form});
      const Weights model = train_quadratic(*world_under_test(), settings);
      if (!model.empty()) {
        EXPECT_EQ(model, first_weights()) << form << count;
      }
      expect_alone(*world_under_test(), quadratic_job(settings));
    }
  }
}

TEST(Elastic, PullsWorkersAndCentreTogether) {
  for (const int count : ranks_under_test(kCounts)) {
    for (const double alpha : {0.9 / count, 0.1}) {
      auto settings = elastic(count, {"sync.period=3", "optim.momentum=0.9", "train.steps=14"});
      if (alpha == 0.1) settings.push_back("sync.pull=0.1");
      const Job job = quadratic_job(settings);
      SerialWorkers reference(job);
      Weights centre = first_weights();
      for (std::int64_t step = 0; step < job.plan().steps(); ++step) {
        reference.learn(step);
        if (step % 3 != 2) continue;
        const Weights before = centre;
        centre = reference.each([&](std::size_t i) {
          return before[i] + alpha * (reference.sum(i) - count * static_cast<double>(before[i]));
        });
        for (std::size_t worker = 0; worker < reference.size(); ++worker) {
          const auto x = reference.params(worker);
          for (std::size_t i = 0; i < x.size(); ++i) {
            x[i] -= static_cast<float>(alpha * (x[i] - before[i]));
          }
        }
      }
      expect_near_all(*world_under_test(), job, reference);
      const Weights model = train_quadratic(*world_under_test(), settings);
      if (!model.empty()) expect_near(model, centre, 1e-4);
    }
  }
}

TEST(Elastic, OneWorkerNeedsNobodyToWaitFor) {
  const auto threads = Registry<World>::instance().make("threads");
  const auto synchronous = elastic(1, {"sync.period=2"});
  auto asynchronous = synchronous;
  asynchronous.push_back("sync.asynchronous=true");
  const Weights here = train_quadratic(*world_under_test(), asynchronous);
  if (!here.empty()) {
    EXPECT_EQ(here, train_quadratic(*threads, synchronous));
  }
}

TEST(Elastic, TheCentreLearns) {
  for (const char* form : {"sync.asynchronous=false", "sync.asynchronous=true"}) {
    for (const int count : ranks_under_test(kCounts)) {
      const Weights model = train_quadratic(
          *world_under_test(), elastic(count, {"sync.period=2", "train.epochs=40", form}));
      for (std::size_t i = 0; i < model.size(); ++i) {
        EXPECT_NEAR(model[i], QuadraticReplica::optimum(i), 0.2) << form << count;
      }
    }
  }
}

TEST(Elastic, TheModelShownAtAMeetingIsTheCentre) {
  for (const char* form : {"sync.asynchronous=false", "sync.asynchronous=true"}) {
    const auto world = world_with_room_for(2);
    const Job job = quadratic_job(elastic(2, {"sync.period=4", "train.steps=6", form}));
    std::vector<Weights> shown(2);
    const auto finished = train_all(*world, job, [&](int rank, Learner& learner) {
      ASSERT_TRUE(learner.consistent());
      const auto params = learner.replica().params();
      const Weights own(params.begin(), params.end());
      learner.with_model(
          [&] { shown[static_cast<std::size_t>(rank)].assign(params.begin(), params.end()); });
      EXPECT_EQ(Weights(params.begin(), params.end()), own);
      EXPECT_NE(shown[static_cast<std::size_t>(rank)], own);
    });
    std::erase_if(shown, [](const Weights& one) { return one.empty(); });
    EXPECT_EQ(shown, finished) << form;
  }
}

}  // namespace
}  // namespace lockstep
