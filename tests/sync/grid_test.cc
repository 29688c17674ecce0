// Every strategy with every way to combine values, on the world under test: each cell of the grid
// trains and leaves one model, or is refused in words that say what to use instead. And whatever
// the strategy, a worker that dies ends the run for all.
#include <gmock/gmock.h>

#include <cmath>

#include "lockstep/base/error.h"
#include "tests/linear_model.h"
#include "tests/sync/strategy_runs.h"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;

constexpr int kWorkers = 4;

Config config_of(const std::string& strategy, const std::vector<std::string>& settings) {
  Config config;
  config.set({"model.name=fake", "train.local_batch=4", "train.epochs=2", "data.validation=0",
              "assign.shuffle=none", "optim.lr=0.05", workers(kWorkers), "sync.name=" + strategy});
  config.set(settings);
  return config;
}

TEST(Grid, EveryCellTrainsOrIsRefusedInWords) {
  int trained = 0, refused = 0;
  for (const auto& strategy : Registry<SyncStrategy>::instance().names()) {
    for (const char* via : {"auto", "allreduce", "server"}) {
      for (const int servers : {0, 1}) {
        const std::string cell = strategy + " via " + via + ", servers " + std::to_string(servers);
        const std::vector<std::string> settings{std::string("aggregate.via=") + via,
                                                "aggregate.servers=" + std::to_string(servers)};
        try {
          const Job job(config_of(strategy, settings),
                        {three_directions(103), std::make_shared<LinearModel>()}, 0);
          const auto all = train_all(*world_with_room_for(kWorkers + servers), job);
          for (const auto& one : all) {
            EXPECT_EQ(one, all.front()) << cell;
            for (const float weight : one) EXPECT_TRUE(std::isfinite(weight)) << cell;
          }
          ++trained;
        } catch (const ConfigError& error) {
          EXPECT_THAT(error.what(), AllOf(HasSubstr("[aggregate]"), HasSubstr("use"))) << cell;
          EXPECT_THAT(error.what(), AnyOf(HasSubstr(strategy), HasSubstr("servers"))) << cell;
          ++refused;
        }
      }
    }
  }
  EXPECT_GT(trained, 30);
  EXPECT_GT(refused, 10);
}

// The model of worker 1 breaks in its sixth step.
class Breaking : public LinearReplica {
 public:
  using LinearReplica::LinearReplica;
  PassResult forward_backward(const Batch& batch, float weight, const LayerReady& ready) override {
    // Without shuffling worker w of M has the samples w, w + M, ….
    if (batch.step >= 5 && batch.size() > 0 && batch.ids.front() % kWorkers == 1) {
      throw std::runtime_error("out of luck");
    }
    return LinearReplica::forward_backward(batch, weight, ready);
  }
};
class BreakingModel : public LinearModel {
 public:
  std::unique_ptr<Replica> make(const ModelSettings& settings) const override {
    return std::make_unique<Breaking>(settings);
  }
};

TEST(Grid, AWorkerThatDiesEndsTheRunForAll) {
  for (const auto& strategy : Registry<SyncStrategy>::instance().names()) {
    // Where steps are shared out as workers come, long enough for worker 1 to get six of them.
    const Job job(config_of(strategy, {"train.epochs=100"}),
                  {three_directions(103), std::make_shared<BreakingModel>()}, 0);
    try {
      train_all(*world_with_room_for(kWorkers), job);
      ADD_FAILURE() << strategy << " went on";
    } catch (const CommError& error) {
      EXPECT_THAT(error.what(), AllOf(HasSubstr("rank 1"), HasSubstr("out of luck"))) << strategy;
    }
  }
}

}  // namespace
}  // namespace lockstep
