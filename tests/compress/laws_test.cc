// What must hold of every compressor, for every kind of vector.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/base/state_store.h"
#include "lockstep/compress/error_feedback.h"
#include "tests/compress/vectors.h"

namespace lockstep {
namespace {

class EveryCompressor : public testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<Compressor> make() const {
    auto compressor = Registry<Compressor>::instance().make(GetParam());
    compressor->prepare(some_layers());
    return compressor;
  }
  std::unique_ptr<Compressor> make_with_feedback() const {
    auto compressor =
        std::make_unique<ErrorFeedback>(Registry<Compressor>::instance().make(GetParam()));
    compressor->prepare(some_layers());
    return compressor;
  }
};

TEST_P(EveryCompressor, FeedsBackExactlyWhatItDidNotSend) {
  for (const NamedVector& kind : all_kinds(kLength)) {
    auto compressor = make_with_feedback();
    Vector before(kLength, 0.0f);
    const double largest = largest_of(kind.values);
    for (std::uint64_t step = 0; step < 5; ++step) {
      const Bytes message = message_of(*compressor, kind.values, step);
      const Vector sent = decoded(*compressor, message.view(), kLength);
      const auto residual = compressor->residual();
      for (const auto& run : runs_of(some_layers())) {
        for (std::size_t i = run.begin; i < run.end(); ++i) {
          const double had = static_cast<double>(kind.values[i]) + before[i];
          // A float's rounding of what was added and taken off, which may be made of larger parts.
          const double close = 1e-6 * (std::fabs(had) + std::fabs(sent[i]) + 0.1 * largest) + 1e-44;
          ASSERT_NEAR(static_cast<double>(sent[i]) + residual[i], had, close)
              << kind.name << " at " << i << " in step " << step;
        }
      }
      before.assign(residual.begin(), residual.end());
    }
  }
}

TEST_P(EveryCompressor, SendsFiniteNumbersOnly) {
  for (const NamedVector& kind : all_kinds(kLength)) {
    auto compressor = make();
    for (const float value :
         decoded(*compressor, message_of(*compressor, kind.values).view(), kLength)) {
      ASSERT_TRUE(std::isfinite(value)) << kind.name;
    }
  }
}

TEST_P(EveryCompressor, LeavesAloneWhatIsNotItsOwn) {
  auto compressor = make();
  const Bytes message = message_of(*compressor, normal_vector(kLength, 1));
  const Vector values = decoded(*compressor, message.view(), kLength);
  for (std::size_t i = 561; i < 600; ++i) ASSERT_EQ(values[i], 0);
}

TEST_P(EveryCompressor, AddsWithAFactor) {
  auto compressor = make();
  const Bytes message = message_of(*compressor, normal_vector(kLength, 1));
  const Vector once = decoded(*compressor, message.view(), kLength);
  Vector sum(kLength, 1.0f);
  compressor->add(message.view(), -0.5f, sum);
  for (std::size_t i = 0; i < kLength; ++i) ASSERT_NEAR(sum[i], 1 - 0.5f * once[i], 1e-5);
}

TEST_P(EveryCompressor, NamesTheLayerThatIsNotFinite) {
  for (const float bad : {std::nanf(""), HUGE_VALF, -HUGE_VALF}) {
    auto compressor = make();
    Vector values = normal_vector(kLength, 1);
    values[700] = bad;
    EXPECT_THAT([&] { message_of(*compressor, values); },
                testing::ThrowsMessage<TrainingError>(testing::HasSubstr("linear")));
  }
}

TEST_P(EveryCompressor, DoesNotHangOnManyInfinities) {
  auto compressor = make();
  EXPECT_THROW(message_of(*compressor, Vector(kLength, HUGE_VALF)), TrainingError);
}

TEST_P(EveryCompressor, RefusesDamagedMessages) {
  auto compressor = make();
  const Bytes message = message_of(*compressor, normal_vector(kLength, 1));
  const BytesView whole = message.view();
  std::vector<std::byte> bytes(whole.begin(), whole.end());
  Vector sum(kLength);
  EXPECT_THROW(compressor->add({}, 1, sum), CommError);
  for (std::size_t cut = 1; cut < bytes.size(); cut += 1 + bytes.size() / 97) {
    EXPECT_THROW(compressor->add(BytesView(bytes).first(bytes.size() - cut), 1, sum), CommError)
        << cut;
  }
  // A flipped byte may give other numbers, but nothing else may happen.
  Random random(1, "damage");
  for (int i = 0; i < 2000; ++i) {
    auto damaged = bytes;
    damaged[random.below(damaged.size())] = static_cast<std::byte>(random.below(256));
    try {
      compressor->add(damaged, 1, sum);
    } catch (const CommError&) {
    }
  }
}

TEST_P(EveryCompressor, GoesOnFromItsState) {
  auto whole = make_with_feedback(), first = make_with_feedback(), second = make_with_feedback();
  for (std::uint64_t step = 0; step < 3; ++step) {
    message_of(*whole, normal_vector(kLength, step), step);
    message_of(*first, normal_vector(kLength, step), step);
  }
  const StateStore saved([&](StateVisitor& visitor) { first->state(visitor); });
  saved.restore([&](StateVisitor& visitor) { second->state(visitor); });
  const Bytes expected = message_of(*whole, normal_vector(kLength, 9), 9);
  const Bytes got = message_of(*second, normal_vector(kLength, 9), 9);
  EXPECT_TRUE(std::ranges::equal(expected.view(), got.view()));
}

TEST_P(EveryCompressor, KnowsAboutHowLongItsMessagesAre) {
  const std::size_t n = 1 << 16;
  auto compressor = Registry<Compressor>::instance().make(GetParam());
  compressor->prepare(std::vector<Layer>{{"matrix", 0, n, {256, 256}, LayerKind::kWeight}});
  const auto size = static_cast<double>(message_of(*compressor, normal_vector(n, 1)).size());
  const double expected = compressor->expected_bytes({});
  EXPECT_LT(size, expected * 1.6 + 16);
  EXPECT_GT(size, expected * 0.4 - 16);
}

INSTANTIATE_TEST_SUITE_P(Compress, EveryCompressor,
                         testing::ValuesIn(Registry<Compressor>::instance().names()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace lockstep
