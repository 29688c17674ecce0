// Each compressor's own rule: what it keeps, how exactly, and in how many bits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "lockstep/compress/momentum_correction.h"
#include "tests/compress/vectors.h"

namespace lockstep {
namespace {

double ratio(std::size_t n, const Bytes& message) {
  return static_cast<double>(n * sizeof(float)) / static_cast<double>(message.size());
}

TEST(OneBit, SendsTheMeansOfBothSides) {
  const Vector values{0.1f, 0.15f, -0.2f, 20, 15.3f, -1.222f};
  const auto compressor = make("onebit", one_layer(6));
  const Vector sent = decoded(*compressor, message_of(*compressor, values).view(), 6);
  const float expected[] = {8.8875f, 8.8875f, -0.711f, 8.8875f, 8.8875f, -0.711f};
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(sent[i], expected[i], 1e-6);
}

TEST(OneBit, SendsAThirtiethOrLess) {
  const std::size_t n = 100000;
  const auto compressor = make("onebit", one_layer(n));
  EXPECT_GE(ratio(n, message_of(*compressor, normal_vector(n, 1))), 30);
}

TEST(SixteenBits, SendHalf) {
  for (const std::string name : {"fp16", "bf16"}) {
    const auto compressor = make(name, one_layer(1000));
    const Vector values = normal_vector(1000, 1);
    const Bytes message = message_of(*compressor, values);
    EXPECT_EQ(message.size(), 2000);
    const Vector sent = decoded(*compressor, message.view(), 1000);
    const double exact = name == "fp16" ? 1.0 / 2048 : 1.0 / 256;
    for (std::size_t i = 0; i < 1000; ++i) {
      EXPECT_NEAR(sent[i], values[i], exact * std::fabs(values[i]) + 1e-7);
    }
  }
}

// Over many draws: the mean is the vector, E‖q‖² is within 1 + min(n/s², √n/s), and with s = 1 at
// most √n values are not zero.
TEST(Qsgd, IsRightOnAverageAndWithinItsBounds) {
  const std::size_t n = 256;
  const Vector values = normal_vector(n, 1);
  const double length = norm(values);
  for (const int s : {1, 4, 16}) {
    const auto compressor =
        make("qsgd", one_layer(n), {{"levels", std::to_string(s)}, {"bucket", std::to_string(n)}});
    constexpr int kDraws = 20000;
    std::vector<double> sum(n);
    double squares = 0, nonzero = 0, bits = 0;
    for (int draw = 0; draw < kDraws; ++draw) {
      const Bytes message =
          message_of(*compressor, values, static_cast<std::uint64_t>(draw) * 7919);
      const Vector sent = decoded(*compressor, message.view(), n);
      for (std::size_t i = 0; i < n; ++i) sum[i] += sent[i];
      squares += norm(sent) * norm(sent);
      nonzero += static_cast<double>(n) - static_cast<double>(std::ranges::count(sent, 0.0f));
      bits += 8.0 * static_cast<double>(message.size());
    }
    // A level is length/s wide: the deviation of one draw is at most half of that, and that of the
    // mean of all draws √draws less; six of them for 256 values.
    const double close = 6 * length / (2 * s * std::sqrt(kDraws));
    for (std::size_t i = 0; i < n; ++i) ASSERT_NEAR(sum[i] / kDraws, values[i], close) << s;
    const double root = std::sqrt(static_cast<double>(n)), size = static_cast<double>(n);
    const double bound = 1 + std::min(size / (s * s), root / s);
    EXPECT_LE(squares / kDraws, bound * length * length);
    EXPECT_GE(squares / kDraws, length * length);
    if (s == 1) {
      EXPECT_LE(nonzero / kDraws, root);
    }
    // The paper's bound on the length of Elias codes (theorem 3.2).
    const double most = s * (s + root);
    const double allowed = (3 + 1.5 * std::log2(2 * (s * s + size) / most)) * most + 32;
    // Whole bytes, and a byte each for form and count.
    EXPECT_LE(bits / kDraws, allowed + 24) << s;
  }
}

TEST(Qsgd, TakesTheShorterForm) {
  const std::size_t n = 1 << 14;
  const auto sparse = make("qsgd", one_layer(n), {{"levels", "1"}});
  const auto dense = make("qsgd", one_layer(n), {{"levels", "7"}, {"bucket", "8"}});
  EXPECT_GE(ratio(n, message_of(*sparse, normal_vector(n, 1))), 50);  // 2 bits a value would be 16
  EXPECT_NEAR(ratio(n, message_of(*dense, normal_vector(n, 1))), 4, 0.01);  // 4 bits, and 4 of norm
}

TEST(TopK, KeepsExactlyTheLargest) {
  for (const std::string scope : {"global", "layer"}) {
    for (const NamedVector& kind : all_kinds(kLength)) {
      const auto layers = some_layers();
      const auto compressor = make("topk", layers, {{"ratio", "0.1"}, {"scope", scope}});
      const Vector sent =
          decoded(*compressor, message_of(*compressor, kind.values).view(), kLength);
      const auto check = [&](const std::vector<std::size_t>& places) {
        const auto k =
            static_cast<std::size_t>(std::llround(0.1 * static_cast<double>(places.size())));
        std::vector<float> sizes;
        for (const std::size_t i : places) sizes.push_back(std::fabs(kind.values[i]));
        std::ranges::sort(sizes, std::greater<>());
        std::size_t kept = 0;
        for (const std::size_t i : places) {
          if (sent[i] == 0) continue;
          ++kept;
          EXPECT_EQ(sent[i], kind.values[i]);
          EXPECT_GE(std::fabs(sent[i]), sizes[k - 1]);
        }
        const auto not_zero =
            static_cast<std::size_t>(std::ranges::count_if(sizes, [](float x) { return x > 0; }));
        EXPECT_EQ(kept, std::min(k, not_zero)) << kind.name;
      };
      std::vector<std::size_t> all;
      for (const Layer& layer : layers) {
        std::vector<std::size_t> own;
        for (std::size_t i = 0; i < layer.size; ++i) own.push_back(layer.offset + i);
        all.insert(all.end(), own.begin(), own.end());
        if (scope == "layer") check(own);
      }
      if (scope == "global") check(all);
    }
  }
}

TEST(TopK, OfALongVectorIsExactToo) {
  const std::size_t n = 1 << 20;
  const Vector values = normal_vector(n, 3);
  const auto compressor = make("topk", one_layer(n));
  const Bytes message = message_of(*compressor, values);
  EXPECT_GE(ratio(n, message), 50);
  Vector sizes = values;
  for (float& size : sizes) size = std::fabs(size);
  const std::size_t k = 10486;
  std::nth_element(sizes.begin(), sizes.begin() + k, sizes.end(), std::greater<>());
  const Vector sent = decoded(*compressor, message.view(), n);
  for (std::size_t i = 0; i < n; ++i)
    ASSERT_EQ(sent[i], std::fabs(values[i]) > sizes[k] ? values[i] : 0);
}

TEST(TopK, SampledKeepsAboutAsMany) {
  const std::size_t n = 1 << 20;
  const auto compressor = make("topk", one_layer(n), {{"sampled", "true"}});
  const Vector sent = decoded(*compressor, message_of(*compressor, normal_vector(n, 3)).view(), n);
  const auto kept = static_cast<double>(n) - static_cast<double>(std::ranges::count(sent, 0.0f));
  EXPECT_NEAR(kept / static_cast<double>(n), 0.01, 0.004);
}

TEST(TopK, WarmsUp) {
  const std::size_t n = 10000;
  const auto compressor = make("topk", one_layer(n), {{"warmup_epochs", "4"}, {"ratio", "0.001"}});
  const Vector values = normal_vector(n, 1);
  std::vector<std::size_t> kept;
  for (const double epoch : {0.0, 1.0, 2.5, 3.0, 4.0, 9.0}) {
    Bytes message;
    compressor->encode(values, {epoch, 1}, message);
    const Vector sent = decoded(*compressor, message.view(), n);
    kept.push_back(n - static_cast<std::size_t>(std::ranges::count(sent, 0.0f)));
  }
  EXPECT_THAT(kept, testing::ElementsAre(2500, 629, 158, 40, 10, 10));
}

// u ← m·u + g, e ← e + u; what is sent leaves both.
TEST(TopK, CorrectsMomentum) {
  Options options = Registry<Compressor>::instance().options("topk");
  options.set("ratio", "0.25");
  options.set("momentum", "0.5");
  const auto compressor =
      with_momentum_correction(options, Registry<Compressor>::instance().make("topk", options));
  compressor->prepare(one_layer(4));
  const auto send = [&](Vector values) {
    return decoded(*compressor, message_of(*compressor, values).view(), 4);
  };
  EXPECT_EQ(send({4, 1, 0, 0}), (Vector{4, 0, 0, 0}));
  // u = (0 + 0, 0.5 + 1, …), e = (0, 1 + 1.5, …)
  EXPECT_EQ(send({0, 1, 0, 0}), (Vector{0, 2.5f, 0, 0}));
  EXPECT_EQ(send({0, 0, 1, 0}), (Vector{0, 0, 1, 0}));  // the second has no momentum left
}

TEST(Threshold, SendsPlusAndMinusT) {
  const auto compressor = make("threshold", one_layer(5), {{"threshold", "0.5"}});
  const Vector sent =
      decoded(*compressor, message_of(*compressor, {0.4f, 0.6f, -7, 0.5f, -0.51f}).view(), 5);
  EXPECT_EQ(sent, (Vector{0, 0.5f, -0.5f, 0, -0.5f}));
}

TEST(NonZero, LosesNothing) {
  const std::size_t n = kLength;
  for (const double share : {0.0, 0.01, 0.5, 0.99, 1.0}) {
    Random random(1, "zeros");
    Vector values = normal_vector(n, 1);
    for (float& value : values) {
      if (random.uniform() >= share) value = 0;
    }
    for (std::size_t i = 561; i < 600; ++i) values[i] = 0;  // not its own
    const auto compressor = make("nonzero", some_layers());
    const Bytes message = message_of(*compressor, values);
    EXPECT_EQ(decoded(*compressor, message.view(), n), values);
    EXPECT_LE(message.size(), n * sizeof(float) + 1);
    if (share <= 0.01) {
      EXPECT_GE(ratio(n, message), 40);
    }
  }
}

}  // namespace
}  // namespace lockstep
