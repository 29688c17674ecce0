// Averages by buckets, driven by hand: plans from given times, checkpoints, and ranks that fail
// while their lane is at work.
#include "lockstep/overlap/overlapped_averaging.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "lockstep/base/error.h"
#include "lockstep/base/state_store.h"
#include "lockstep/collective/collectives.h"
#include "tests/world_under_test.h"

namespace lockstep {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

const std::vector<Layer> kLayers{{"a", 0, 40, {4, 10}, LayerKind::kWeight},
                                 {"b", 40, 10, {10}, LayerKind::kBias},
                                 {"c", 50, 60, {6, 10}, LayerKind::kWeight},
                                 {"d", 110, 6, {6}, LayerKind::kBias}};
constexpr std::size_t kSize = 116;
CompressionPlan topk() {
  const auto& registry = Registry<Compressor>::instance();
  Options own(compress_options(), "[compress]");
  own.set("plain_below", "0");
  Options options = registry.options("topk");
  options.set("ratio", "0.2");
  return CompressionPlan("topk", options, own);
}

// One rank's averaging, and the gradients that outlive it.
class Averager {
 public:
  Averager(Transport& transport, const std::string& bucketing,
           const CompressionPlan* plan = nullptr)
      : all_reduce_(Registry<AllReduce>::instance().make("native")),
        group_(transport),
        averaging_(std::make_unique<AllReduceAveraging>(*all_reduce_),
                   Registry<Bucketing>::instance().make(bucketing),
                   {transport, *all_reduce_, plan, kLayers}) {
    averaging_.open(group_.ranks());
  }

  // A pass whose gradients depend on rank and step; what the average gives.
  std::vector<float> pass(int step) {
    averaging_.begin(grads_);
    for (std::size_t i = kLayers.size(); i-- > 0;) {
      for (std::size_t k = kLayers[i].offset; k < kLayers[i].offset + kLayers[i].size; ++k) {
        grads_[k] = std::sin(static_cast<float>((group_.index() + 2) * (step + 1)) *
                             static_cast<float>(k + 1));
      }
      averaging_.ready(i);
    }
    averaging_.average(group_, grads_, Content::kChange, {});
    return grads_;
  }
  OverlappedAveraging& averaging() { return averaging_; }
  Group& group() { return group_; }
  std::span<float> grads() { return grads_; }

 private:
  std::vector<float> grads_ = std::vector<float>(kSize);
  std::unique_ptr<AllReduce> all_reduce_;
  Group group_;
  OverlappedAveraging averaging_;
};

TEST(OverlappedAveraging, AveragesEveryBucket) {
  for (const int count : ranks_under_test({2, 3, 4})) {
    world_under_test()->run(count, [&](Transport& transport) {
      Averager averager(transport, "wfbp");
      EXPECT_FALSE(averager.averaging().wants_times());
      EXPECT_THAT(averager.averaging().bucket_names(), SizeIs(4));
      for (int step = 0; step < 3; ++step) {
        const auto mean = averager.pass(step);
        for (std::size_t k = 0; k < kSize; ++k) {
          double expected = 0;
          for (int rank = 0; rank < count; ++rank) {
            expected +=
                std::sin(static_cast<float>((rank + 2) * (step + 1)) * static_cast<float>(k + 1)) /
                count;
          }
          ASSERT_NEAR(mean[k], expected, 1e-6);
        }
      }
    });
  }
}

// Backward takes hours and an average no second: there is nothing to gain, and no lane to keep.
TEST(OverlappedAveraging, PlansOneBucketWhereNothingIsGained) {
  constexpr double kReady[] = {3e5, 2e5, 1e5, 0};
  for (const int count : ranks_under_test({2})) {
    world_under_test()->run(count, [&](Transport& transport) {
      Averager averager(transport, "mg-wfbp");
      EXPECT_TRUE(averager.averaging().wants_times());
      averager.averaging().plan(averager.group(), kReady);
      EXPECT_FALSE(averager.averaging().wants_times());
      EXPECT_THAT(averager.averaging().bucket_names(), SizeIs(1));
      averager.pass(0);
    });
  }
}

// Parts arrive in the order of the buckets and make up the vector.
TEST(OverlappedAveraging, TellsOfPartsThatAreThere) {
  for (const int count : ranks_under_test({2})) {
    world_under_test()->run(count, [&](Transport& transport) {
      Averager averager(transport, "wfbp");
      averager.averaging().begin(averager.grads());
      for (const std::size_t layer : {0u, 2u, 3u, 1u}) averager.averaging().ready(layer);
      std::vector<Range> parts;
      averager.averaging().average(averager.group(), averager.grads(), Content::kChange,
                                   [&](Range part) { parts.push_back(part); });
      EXPECT_THAT(parts,
                  testing::ElementsAre(Range{110, 6}, Range{50, 60}, Range{40, 10}, Range{0, 40}));
    });
  }
}

// Buckets and what is held back of each: a fresh one goes on as if nothing had happened.
TEST(OverlappedAveraging, GoesOnFromItsState) {
  const CompressionPlan plan = topk();
  for (const int count : ranks_under_test({3})) {
    world_under_test()->run(count, [&](Transport& transport) {
      Buckets buckets;
      std::unique_ptr<StateStore> state;
      std::vector<std::vector<float>> expected;
      {
        Averager whole(transport, "mg-wfbp", &plan);
        whole.averaging().keep({1, 2, 4}, count);
        for (int step = 0; step < 3; ++step) whole.pass(step);
        buckets = whole.averaging().buckets();
        state = std::make_unique<StateStore>([&](StateVisitor& v) { whole.averaging().state(v); });
        for (int step = 3; step < 6; ++step) expected.push_back(whole.pass(step));
        barrier(whole.group());
      }
      Averager fresh(transport, "mg-wfbp", &plan);
      fresh.averaging().keep(buckets, count);
      EXPECT_FALSE(fresh.averaging().wants_times());
      state->restore([&](StateVisitor& v) { fresh.averaging().state(v); });
      for (int step = 3; step < 6; ++step) {
        EXPECT_EQ(fresh.pass(step), expected[static_cast<std::size_t>(step - 3)]);
      }
    });
  }
}

TEST(OverlappedAveraging, KeepsOnlyBucketsThatFit) {
  for (const int count : ranks_under_test({2})) {
    world_under_test()->run(count, [&](Transport& transport) {
      Averager averager(transport, "mg-wfbp");
      OverlappedAveraging& averaging = averager.averaging();
      averaging.keep({}, count);
      averaging.keep({1, 4}, count + 1);  // of another number of members
      EXPECT_TRUE(averaging.wants_times());
      for (const Buckets& damaged :
           {Buckets{0, 4}, Buckets{2, 2, 4}, Buckets{3, 2, 4}, Buckets{2}, Buckets{2, 5}}) {
        EXPECT_THROW(averaging.keep(damaged, count), DataError);
      }
      averaging.keep({1, 4}, count);
      EXPECT_THAT(averaging.bucket_names(), testing::ElementsAre("d", "c … a"));
    });
  }
}

TEST(OverlappedAveraging, KeepsBucketsThatFollowFromTheConfiguration) {
  for (const int count : ranks_under_test({2})) {
    world_under_test()->run(count, [&](Transport& transport) {
      Averager averager(transport, "fusion");  // all of it is below the threshold: no lane
      averager.averaging().keep({1, 2, 3, 4}, count);
      EXPECT_THAT(averager.averaging().bucket_names(), SizeIs(1));
      averager.pass(0);
    });
  }
}

// The others' lanes wait for it; the error that ended it is what all report.
TEST(OverlappedAveraging, ARankThatFailsInBackwardEndsTheRun) {
  for (const int count : ranks_under_test({2, 4})) {
    const auto run = [&] {
      world_under_test()->run(count, [&](Transport& transport) {
        Averager averager(transport, "wfbp");
        averager.pass(0);
        averager.averaging().begin(averager.grads());
        averager.averaging().ready(3);
        if (transport.rank() == 1) throw TrainingError("the loss became infinite");
        for (const std::size_t layer : {2u, 1u, 0u}) averager.averaging().ready(layer);
        averager.averaging().average(averager.group(), averager.grads(), Content::kChange, {});
      });
    };
    EXPECT_THAT(run, testing::Throws<std::exception>(testing::Property(
                         &std::exception::what, HasSubstr("the loss became infinite"))));
  }
}

}  // namespace
}  // namespace lockstep
