#include "lockstep/model/winograd.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "lockstep/base/random.h"

namespace lockstep {
namespace {

struct Case {
  std::size_t images, height, width, in, out;
};

// Those that this CPU can do: all where it has AVX2 and FMA, none elsewhere.
std::vector<Case> cases() {
  std::vector<Case> possible;
  for (const Case& one : {Case{1, 1, 1, 16, 16}, Case{2, 2, 3, 16, 32}, Case{3, 9, 6, 32, 16},
                          Case{1, 16, 16, 16, 48}, Case{9, 4, 4, 64, 64}}) {
    if (Winograd::possible(one.in, one.out)) possible.push_back(one);
  }
  return possible;
}

AlignedVector<float> noise(std::size_t size, std::uint64_t stream) {
  Random random(1, "winograd", stream);
  AlignedVector<float> values(size);
  for (auto& value : values) value = static_cast<float>(random.normal());
  return values;
}

double dot(const AlignedVector<float>& a, const AlignedVector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += double(a[i]) * b[i];
  return sum;
}

AlignedVector<float> convolve(const Case& of, std::size_t from, std::size_t to,
                              const AlignedVector<float>& x, const AlignedVector<float>& u) {
  const Winograd winograd(of.images, of.height, of.width, from, to);
  AlignedVector<float> y(of.images * of.height * of.width * to, NAN);
  Winograd::Scratch scratch;
  for (std::size_t i = 0; i < winograd.chunks(); ++i) {
    winograd.convolve(i, x.data(), u.data(), y.data(), scratch);
  }
  return y;
}

AlignedVector<float> forward(const Case& of, const AlignedVector<float>& x,
                             const AlignedVector<float>& weights) {
  AlignedVector<float> u(Winograd::kPlaces * of.in * of.out);
  Winograd::transform_filter(of.in, of.out, weights.data(), u.data());
  return convolve(of, of.in, of.out, x, u);
}

// The definition: channels-last images, padding 1.
double plain(const Case& of, const AlignedVector<float>& x, const AlignedVector<float>& weights,
             std::size_t pixel, std::size_t o) {
  const std::size_t column = pixel % of.width, row = pixel / of.width % of.height;
  double sum = 0;
  for (std::size_t tap = 0; tap < 9; ++tap) {
    const std::size_t from_row = row + tap / 3 - 1, from_column = column + tap % 3 - 1;
    if (from_row >= of.height || from_column >= of.width) continue;
    const std::size_t from = pixel + (tap / 3 - 1) * of.width + tap % 3 - 1;
    for (std::size_t i = 0; i < of.in; ++i) {
      sum += double(x[from * of.in + i]) * weights[(o * of.in + i) * 9 + tap];
    }
  }
  return sum;
}

TEST(Winograd, IsTheConvolution) {
  for (const Case& of : cases()) {
    const std::size_t pixels = of.images * of.height * of.width;
    const auto x = noise(pixels * of.in, 1), weights = noise(of.in * of.out * 9, 2);
    const auto y = forward(of, x, weights);
    for (std::size_t i = 0; i < y.size(); ++i) {
      ASSERT_NEAR(y[i], plain(of, x, weights, i / of.out, i % of.out), 1e-4);
    }
  }
}

// A convolution is linear in x and in the weights, so its gradients are its adjoints:
// ⟨conv(x, w), dy⟩ = ⟨x, dx⟩ = ⟨w, dw⟩, for any x and w.
TEST(Winograd, GradientsAreTheAdjoints) {
  for (const Case& of : cases()) {
    const std::size_t pixels = of.images * of.height * of.width;
    const auto x = noise(pixels * of.in, 1), weights = noise(of.in * of.out * 9, 2);
    const auto dy = noise(pixels * of.out, 3);
    AlignedVector<float> u(Winograd::kPlaces * of.in * of.out);
    Winograd::transform_turned_filter(of.in, of.out, weights.data(), u.data());
    const auto dx = convolve(of, of.out, of.in, dy, u);

    const Winograd winograd(of.images, of.height, of.width, of.in, of.out);
    AlignedVector<float> du(u.size(), 0.0f), dw(weights.size());
    Winograd::Scratch scratch;
    for (std::size_t i = 0; i < winograd.chunks(); ++i) {
      winograd.add_filter_gradient(i, x.data(), dy.data(), du.data(), scratch);
    }
    Winograd::finish_filter_gradient(of.in, of.out, du.data(), dw.data());

    for (const std::uint64_t stream : {1, 4, 5}) {
      const auto other_x = noise(x.size(), stream);
      const double size = std::sqrt(dot(other_x, other_x) * dot(dx, dx));
      EXPECT_NEAR(dot(forward(of, other_x, weights), dy), dot(other_x, dx), 1e-5 * size);
      const auto other_weights = noise(weights.size(), stream + 10);
      const double scale = std::sqrt(dot(other_weights, other_weights) * dot(dw, dw));
      EXPECT_NEAR(dot(forward(of, x, other_weights), dy), dot(other_weights, dw), 1e-5 * scale);
    }
  }
}

}  // namespace
}  // namespace lockstep
