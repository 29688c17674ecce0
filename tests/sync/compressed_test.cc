// Strategies that send compressed messages: all workers still agree to the bit, on every world the
// same; training still finds the minimum; and a run that stops goes on as if it had not.
#include <gmock/gmock.h>

#include "lockstep/base/half.h"
#include "lockstep/collective/collectives.h"
#include "tests/resuming.h"
#include "tests/sync/strategy_runs.h"

namespace lockstep {
namespace {

// The quadratic is small: all of it is compressed, and a tenth of it sent.
Settings compressed_by(const std::string& name) {
  Settings settings{"compress.name=" + name, "compress.plain_below=0"};
  if (name == "topk") settings.push_back("compress.ratio=0.3");
  return settings;
}

std::vector<std::string> lossy_compressors() {
  auto names = Registry<Compressor>::instance().names();
  std::erase_if(names, [](const std::string& name) { return name == "none"; });
#ifdef LOCKSTEP_SANITIZED  // one of each kind: they are ten times as slow there
  names = {"fp16", "powersgd", "qsgd", "topk"};
#endif
  return names;
}

const std::vector<Settings> kInStep{
    {"sync.name=synchronous"},
    {"sync.name=synchronous", "compress.combine=gather"},
    {"sync.name=synchronous", "compress.combine=owner"},
    {"sync.name=synchronous", "aggregate.via=server"},
    {"sync.name=synchronous", "compress.from_epoch=2"},
    {"sync.name=local", "sync.period=3"},
    {"sync.name=local", "sync.period=3", "aggregate.via=server"},
    {"sync.name=households", "sync.world_period=4", "sync.households=1"},
    {"sync.name=post-local", "sync.switch=0.4", "sync.period=3"},
    {"sync.name=elastic", "sync.period=2"},
    {"sync.name=neighbours", "sync.graph=ring"},
};

// Those with a momentum over averages, which go with nearly exact compressors only.
const std::vector<Settings> kAmplifying{{"sync.name=block-momentum", "sync.period=3"},
                                        {"sync.name=model-averaging"}};

TEST(Compressed, MomentumOverAveragesGoesWithNearlyExactOnes) {
  for (const Settings& strategy : kAmplifying) {
    for (const int count : ranks_under_test({2, 4})) {
      const Settings settings = with(strategy, {workers(count)});
      const Weights plain = train_quadratic(*world_under_test(), settings);
      for (const std::string name : {"fp16", "nonzero"}) {
        expect_near(train_quadratic(*world_under_test(), with(settings, compressed_by(name))),
                    plain, 0.02);
      }
    }
    EXPECT_THAT([&] { quadratic_job(with(strategy, compressed_by("topk"))); },
                testing::ThrowsMessage<ConfigError>(testing::HasSubstr("fp16, bf16 or nonzero")));
  }
}

TEST(Compressed, WorkersAgreeAndEveryWorldComputesTheSameBits) {
  const auto threads = Registry<World>::instance().make("threads");
  for (const std::string& name : lossy_compressors()) {
    for (const Settings& strategy : kInStep) {
      for (const int count : ranks_under_test({3})) {
        const Settings settings = with(with(strategy, compressed_by(name)), {workers(count)});
        const Weights here = train_quadratic(*world_under_test(), settings);
        if (here.empty()) continue;  // this process had no rank
        EXPECT_EQ(here, train_quadratic(*threads, settings)) << name << " " << strategy.back();
      }
    }
  }
}

// What is lost on the way comes later or averages out.
TEST(Compressed, TrainingComesNearThatOfAllValues) {
  for (const int count : ranks_under_test({2, 4})) {
    const Settings longer{workers(count), "train.epochs=40", "optim.lr=0.05"};
    const Weights plain =
        train_quadratic(*world_under_test(), with(longer, {"sync.name=synchronous"}));
    for (const std::string& name : lossy_compressors()) {
      const Weights weights = train_quadratic(
          *world_under_test(), with(with(longer, compressed_by(name)), {"sync.name=synchronous"}));
      SCOPED_TRACE(name);
      expect_near(weights, plain, 0.1);
    }
  }
}

TEST(Compressed, NothingIsLostWithoutLoss) {
  for (const int count : ranks_under_test({2, 4})) {
    for (const Settings& strategy : kInStep) {
      const Settings settings = with(strategy, {workers(count)});
      const Weights plain = train_quadratic(*world_under_test(), settings);
      const Weights weights =
          train_quadratic(*world_under_test(), with(settings, compressed_by("nonzero")));
      expect_near(weights, plain, 1e-4);
    }
  }
}

// Parts of a layer are compressed as the layer is, however short they are.
TEST(Compressed, ChunksOfOwnersFollowTheirLayers) {
  for (const int count : ranks_under_test({3, 4})) {
    const Settings settings{"sync.name=synchronous", workers(count)};
    const Weights plain = train_quadratic(*world_under_test(), settings);
    const Weights weights = train_quadratic(
        *world_under_test(), with(settings, {"compress.name=nonzero", "compress.combine=owner",
                                             "compress.plain_below=60"}));
    expect_near(weights, plain, 1e-4);
  }
}

// What a lossy message leaves out is neither lost nor counted twice, whatever the strategy does
// with the average.
TEST(Compressed, EveryStrategyComesNearItsOwnResult) {
  for (const Settings& strategy : kInStep) {
    for (const std::string& name : {std::string("topk"), std::string("onebit")}) {
      for (const int count : ranks_under_test({4})) {
        const Settings longer = with(strategy, {workers(count), "train.epochs=25", "optim.lr=0.1"});
        const Weights plain = train_quadratic(*world_under_test(), longer);
        const Weights weights =
            train_quadratic(*world_under_test(), with(longer, compressed_by(name)));
        SCOPED_TRACE(name + " " + strategy.front() + " " + strategy.back());
        expect_near(weights, plain, 0.3);
      }
    }
  }
}

// An all-reduce of 16-bit numbers: the same bits on all members, by every algorithm, and as near to
// the mean as numbers of that many bits can be after so many hops.
TEST(Compressed, EveryAllReduceAddsSixteenBits) {
  const std::size_t n = 1000;
  for (const auto& name : Registry<AllReduce>::instance().names()) {
    for (const Number number : {Number::kHalf, Number::kBrain}) {
      for (const int count : ranks_under_test({2, 3, 4})) {
        world_under_test()->run(count, [&](Transport& transport) {
          Group group(transport);
          const auto all_reduce = Registry<AllReduce>::instance().make(name);
          all_reduce->prepare(group);
          std::vector<float> values(n);
          for (std::size_t i = 0; i < n; ++i) {
            values[i] =
                std::sin(static_cast<float>(i * 3 + 7) * static_cast<float>(transport.rank() + 1));
          }
          group.travel_as(number);
          all_reduce->run(group, values, ReduceOp::kMean);
          group.travel_as(Number::kFloat);
          std::vector<float> rounded = values;
          round_values(number, rounded.data(), n);
          EXPECT_EQ(values, rounded);
          const double exact = (number == Number::kHalf ? 1.0 / 2048 : 1.0 / 256) * 2 * count;
          for (std::size_t i = 0; i < n; ++i) {
            float mean = 0;
            for (int rank = 0; rank < count; ++rank) {
              mean += std::sin(static_cast<float>(i * 3 + 7) * static_cast<float>(rank + 1)) /
                      static_cast<float>(count);
            }
            ASSERT_NEAR(values[i], mean, exact) << name;
          }
          for (const auto& theirs : all_gather_varied(group, values)) {
            EXPECT_TRUE(std::ranges::equal(theirs, values)) << name;
          }
        });
      }
    }
  }
}

TEST(Compressed, ARunThatStopsGoesOnAsIfItHadNot) {
  for (const std::string& name : lossy_compressors()) {
    for (const Settings& strategy : kInStep) {
      for (const int count : ranks_under_test({3})) {
        const Settings settings = with(with(compressed_by(name), strategy), {workers(count)});
        SCOPED_TRACE(name + " " + strategy.front() + " " + strategy.back());
        expect_resumes([&] { return quadratic_job(settings); }, count);
      }
    }
  }
}

TEST(Compressed, StrategiesThatDoNotWaitTrainToo) {
  for (const Settings& strategy :
       {Settings{"sync.name=asynchronous"}, Settings{"sync.name=stale-synchronous"},
        Settings{"sync.name=elastic", "sync.asynchronous=true", "sync.period=2"},
        Settings{"sync.name=gossip", "sync.probability=0.6"}}) {
    for (const std::string& name : lossy_compressors()) {
      for (const int count : ranks_under_test({4})) {
        const Settings settings = with(with(strategy, compressed_by(name)),
                                       {workers(count), "train.epochs=40", "optim.lr=0.05"});
        const Weights weights = train_quadratic(*world_under_test(), settings);
        if (weights.empty()) continue;
        const Weights plain = train_quadratic(*Registry<World>::instance().make("threads"),
                                              {workers(count), "train.epochs=40", "optim.lr=0.05"});
        for (const float weight : weights) ASSERT_TRUE(std::isfinite(weight));
        if (strategy.front() == "sync.name=gossip") continue;  // goes by who happens to be fast
        SCOPED_TRACE(name + " " + strategy.front());
        expect_near(weights, plain, 0.5);
      }
    }
  }
}

TEST(Compressed, SendsLess) {
  for (const int count : ranks_under_test({2, 4})) {
    for (const Settings& strategy :
         {Settings{"sync.name=synchronous"}, Settings{"sync.name=local"}}) {
      const Job job = quadratic_job(with(with(strategy, compressed_by("fp16")), {workers(count)}));
      world_under_test()->run(count, [&](Transport& transport) {
        Learner learner(transport, job);
        BatchSource source(job, transport.rank());
        std::int64_t own = 0;
        learner.start();
        train_until(learner, source, 0, 8, own);
        const WorkerLedger& ledger = learner.ledger();
        EXPECT_GT(ledger.plain, 0);
        EXPECT_LT(ledger.sent, ledger.plain);
        learner.rest();
      });
    }
  }
}

TEST(Compressed, RefusesWhatMakesNoSense) {
  EXPECT_THAT(
      [] {
        quadratic_job({"compress.name=topk", "compress.momentum=0.9", "optim.momentum=0.9"});
      },
      testing::ThrowsMessage<ConfigError>(testing::HasSubstr("[optim] momentum = 0")));
  EXPECT_THAT(
      [] {
        quadratic_job({"compress.name=topk", "compress.schedule=2=nothing"});
      },
      testing::ThrowsMessage<ConfigError>(testing::HasSubstr("nothing")));
}

}  // namespace
}  // namespace lockstep
