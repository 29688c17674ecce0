// Training with communication beside backward: what is learned does not depend on it, whatever the
// order in which layers are finished; it survives a stop; and it never hangs.
#include <gmock/gmock.h>

#include <set>

#include "lockstep/base/error.h"
#include "tests/overlap/layered_quadratic.h"
#include "tests/resuming.h"

namespace lockstep {
namespace {

Job job_of(const Settings& settings, int workers, Finishing finishing = Finishing::kLastFirst) {
  Config config;
  config.set({"model.name=fake", "train.local_batch=4", "train.epochs=4", "data.validation=0",
              "cluster.merge=1", "optim.lr=0.1", "cluster.workers=" + std::to_string(workers)});
  config.set(settings);
  return Job(config, {numbered_samples(101), std::make_shared<LayeredQuadraticModel>(finishing)},
             0);
}

std::vector<Weights> train(const Settings& settings, int workers,
                           Finishing finishing = Finishing::kLastFirst) {
  return train_all(*world_under_test(), job_of(settings, workers, finishing));
}

const std::vector<Settings> kStrategies{
    {"sync.name=synchronous", "optim.momentum=0.9"},
    {"sync.name=synchronous", "optim.name=lars"},
    {"sync.name=synchronous", "optim.name=adamw", "optim.lr=0.01"},
    {"sync.name=post-local", "sync.switch=0.4", "sync.period=3"},
    {"sync.name=codistillation", "sync.groups=2", "sync.weight=0"}};

const std::vector<Settings> kOverlaps{{"overlap.name=wfbp"},
                                      {"overlap.name=fusion", "overlap.threshold=40"},
                                      {"overlap.name=mg-wfbp"}};

TEST(OverlappedTraining, ChangesNoBit) {
  for (const Settings& strategy : kStrategies) {
    for (const int count : ranks_under_test({2, 4})) {
      const auto plain = train(strategy, count);
      for (const Settings& overlap : kOverlaps) {
        SCOPED_TRACE(strategy.front() + " " + strategy.back() + " " + overlap.front());
        EXPECT_EQ(train(with(strategy, overlap), count), plain);
      }
    }
  }
}

// Buckets leave in the agreed order on all ranks, each when it and those before it are there.
TEST(OverlappedTraining, AnyOrderOfLayersWillDo) {
  for (const int count : ranks_under_test({3})) {
    const auto plain = train({}, count);
    for (const Finishing finishing : {Finishing::kFirstFirst, Finishing::kMixed}) {
      for (const Settings& overlap : kOverlaps) {
        EXPECT_EQ(train(overlap, count, finishing), plain) << overlap.front();
      }
    }
  }
}

// Those that cut a vector into chunks, and add each in an order of its own, see buckets in the
// roundings. The others do not.
bool cuts_vectors(const std::string& name) {
  const std::set<std::string> whole{"all-to-all", "butterfly", "master-worker", "native", "tree"};
  return !whole.contains(name);
}

TEST(OverlappedTraining, GoesWithEveryAllReduce) {
  for (const auto& name : Registry<AllReduce>::instance().names()) {
    for (const int count : ranks_under_test({4})) {
      const Settings settings{"aggregate.algorithm=" + name};
      const auto plain = train(settings, count);
      for (const Settings& overlap : kOverlaps) {
        SCOPED_TRACE(name + " " + overlap.front());
        const auto weights = train(with(settings, overlap), count);
        if (!cuts_vectors(name)) {
          EXPECT_EQ(weights, plain);
        }
        for (std::size_t rank = 0; rank < weights.size(); ++rank) {
          EXPECT_EQ(weights[rank], weights[0]);  // to the bit among workers
          for (std::size_t i = 0; i < weights[rank].size(); ++i) {
            ASSERT_NEAR(weights[rank][i], plain[rank][i], 1e-4);  // to rounding with others
          }
        }
      }
    }
  }
}

std::vector<std::string> compressors() {
  auto names = Registry<Compressor>::instance().names();
  std::erase_if(names, [](const std::string& name) { return name == "none"; });
  return names;
}

TEST(OverlappedTraining, CompressesByBucket) {
  for (const auto& name : compressors()) {
    for (const int count : ranks_under_test({3})) {
      const Settings compressed{"compress.name=" + name, "compress.plain_below=0",
                                "train.epochs=30", "optim.momentum=0"};
      const auto plain = train({"train.epochs=30", "optim.momentum=0"}, count);
      for (const Settings& overlap : kOverlaps) {
        SCOPED_TRACE(name + " " + overlap.front());
        const auto weights = train(with(compressed, overlap), count);
        for (std::size_t rank = 0; rank < weights.size(); ++rank) {
          EXPECT_EQ(weights[rank], weights[0]);
          for (std::size_t i = 0; i < weights[rank].size(); ++i) {
            ASSERT_NEAR(weights[rank][i], plain[rank][i], 0.3);
          }
        }
      }
    }
  }
}

// With what compressors hold back, bucket by bucket, and the buckets themselves, which a second
// measurement might cut otherwise.
TEST(OverlappedTraining, ARunThatStopsGoesOnAsIfItHadNot) {
  for (const Settings& overlap : kOverlaps) {
    for (const std::string name : {"none", "topk", "powersgd", "qsgd"}) {
      for (const Settings& strategy : {Settings{}, kStrategies.back()}) {  // in groups, too
        for (const int count : ranks_under_test({4})) {
          SCOPED_TRACE(name + " " + overlap.front());
          const Settings settings =
              with(with(overlap, strategy), {"compress.name=" + name, "compress.plain_below=0"});
          expect_resumes([&] { return job_of(settings, count); }, count);
        }
      }
    }
  }
}

TEST(OverlappedTraining, NeverHangsUnderRandomDelays) {
#ifdef LOCKSTEP_SANITIZED
  constexpr int kRuns = 60;
#else
  constexpr int kRuns = 1000;
#endif
  const int runs = world_under_test_name() == "threads" ? kRuns : kRuns / 20;
  for (const int count : ranks_under_test({4})) {
    const auto expected = train({"train.steps=3"}, count);
    for (int run = 0; run < runs; ++run) {
      const auto at = static_cast<std::size_t>(run);
      const Settings settings =
          with(kOverlaps[at % kOverlaps.size()], {"train.steps=3", "cluster.jitter=3"});
      const auto finishing = static_cast<Finishing>(at % 3);
      ASSERT_EQ(train(settings, count, finishing), expected) << run;
    }
  }
}

TEST(OverlappedTraining, IsRefusedWhereThereIsNothingToHide) {
  using testing::HasSubstr;
  using testing::ThrowsMessage;
  EXPECT_THAT(
      [] {
        job_of({"overlap.name=wfbp", "sync.name=local"}, 2);
      },
      ThrowsMessage<ConfigError>(HasSubstr("averages of gradients")));
  EXPECT_THAT(
      [] {
        job_of({"overlap.name=wfbp", "aggregate.via=server"}, 2);
      },
      ThrowsMessage<ConfigError>(HasSubstr("among themselves")));
  EXPECT_THAT([] { job_of({"overlap.name=mgwfbp"}, 2); },
              ThrowsMessage<ConfigError>(HasSubstr("mg-wfbp")));
}

}  // namespace
}  // namespace lockstep
