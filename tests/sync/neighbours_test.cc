// Averaging with neighbours: the formula, and that mixing keeps the average, on each graph.
#include "lockstep/sync/graph.h"
#include "tests/sync/scattered.h"
#include "tests/sync/serial_workers.h"

namespace lockstep {
namespace {

std::vector<std::string> on_graph(const std::string& graph, int count,
                                  const std::vector<std::string>& more) {
  std::vector<std::string> settings{"sync.name=neighbours", "sync.graph=" + graph, workers(count)};
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

TEST(Neighbours, AWorkerBecomesTheMeanOfItselfAndThoseItHears) {
  for (const std::string& graph : graph_names()) {
    for (const int count : ranks_under_test({1, 2, 3, 4, 6, 8})) {
      const Job job = quadratic_job(
          on_graph(graph, count, {"optim.momentum=0.9", "train.local_batch=2", "train.steps=6"}));
      SerialWorkers reference(job);
      for (std::int64_t step = 0; step < job.plan().steps(); ++step) {
        reference.learn(step);
        std::vector<Weights> mixed;
        for (int worker = 0; worker < count; ++worker) {
          const auto heard = graph_named(graph)(worker, count);
          mixed.push_back(reference.each([&](std::size_t i) {
            double sum = reference.params(static_cast<std::size_t>(worker))[i];
            for (const int one : heard) sum += reference.params(static_cast<std::size_t>(one))[i];
            return sum / static_cast<double>(heard.size() + 1);
          }));
        }
        for (std::size_t i = 0; i < mixed.size(); ++i) {
          std::ranges::copy(mixed[i], reference.params(i).begin());
        }
      }
      expect_near_all(*world_under_test(), job, reference);
    }
  }
}

TEST(Neighbours, MixingKeepsTheAverage) {
  for (const std::string& graph : graph_names()) {
    for (const int count : ranks_under_test({1, 2, 3, 4, 6, 8})) {
      const Job job = quadratic_job(on_graph(graph, count, {"optim.lr=0"}));
      mix_scattered(*world_under_test(), job, [&](int meeting, Learner& learner) {
        expect_average_kept(learner, 1, meeting);
      });
    }
  }
}

TEST(Neighbours, WhereEverybodyHearsEverybodyItIsSynchronous) {
  for (const std::string& graph : graph_names()) {
    for (const int count : ranks_under_test({1, 2, 3})) {
      const Weights here = train_quadratic(*world_under_test(), on_graph(graph, count, {}));
      if (here.empty()) continue;  // this process had no rank
      const auto threads = Registry<World>::instance().make("threads");
      expect_near(here, train_quadratic(*threads, {workers(count)}), 1e-4);
    }
  }
}

}  // namespace
}  // namespace lockstep
