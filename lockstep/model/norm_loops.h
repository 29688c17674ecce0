// The text of the kernels, compiled once for every CPU and once for those with AVX2: each file that
// includes it gets its own copy. Channels are taken eight at a time; sums stay in registers over
// the rows of a block. Channels that do not fill a vector are done one by one.
#pragma once

#include <cstring>
#include <type_traits>

#include "lockstep/model/norm_kernels.h"

namespace lockstep {
namespace {

constexpr std::size_t kLanes = 8;
typedef float Vector __attribute__((vector_size(kLanes * sizeof(float))));

template <typename V>
inline V load(const float* from) {
  V value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <typename V>
inline void store(float* to, V value) {
  std::memcpy(to, &value, sizeof value);
}

inline float where_positive(float test, float value) {
  return test > 0 ? value : 0.0f;
}
inline Vector where_positive(Vector test, Vector value) {
  return test > 0 ? value : Vector{};
}

// body(tag, channel): what the tag points to says whether it is about eight channels or one.
template <typename Body>
inline void over_channels(std::size_t channels, const Body& body) {
  std::size_t channel = 0;
  for (; channel + kLanes <= channels; channel += kLanes)
    body(static_cast<Vector*>(nullptr), channel);
  for (; channel < channels; ++channel) body(static_cast<float*>(nullptr), channel);
}

void sum_columns(RowBlock block, const float* x, const float* origin, float* sum, float* squares) {
  over_channels(block.channels, [&](auto tag, std::size_t channel) {
    using V = std::remove_pointer_t<decltype(tag)>;
    const V centre = load<V>(origin + channel);
    V sums[2] = {}, square_sums[2] = {};  // even and odd rows: two chains of additions
    const float* from = x + channel;
    const auto add = [&](int chain) {
      const V value = load<V>(from) - centre;
      sums[chain] += value;
      square_sums[chain] += value * value;
      from += block.channels;
    };
    for (std::size_t row = 0; row + 2 <= block.rows; row += 2) {
      add(0);
      add(1);
    }
    if (block.rows % 2 == 1) add(0);
    store<V>(sum + channel, sums[0] + sums[1]);
    store<V>(squares + channel, square_sums[0] + square_sums[1]);
  });
}

template <bool kResidual, bool kRelu>
void scale_rows(RowBlock block, const float* x, const float* residual, const float* scale,
                const float* shift, float* out) {
  over_channels(block.channels, [&](auto tag, std::size_t channel) {
    using V = std::remove_pointer_t<decltype(tag)>;
    const V factor = load<V>(scale + channel), offset = load<V>(shift + channel);
    std::size_t at = channel;
    for (std::size_t row = 0; row < block.rows; ++row, at += block.channels) {
      V value = load<V>(x + at) * factor + offset;
      if constexpr (kResidual) value += load<V>(residual + at);
      if constexpr (kRelu) value = where_positive(value, value);
      store<V>(out + at, value);
    }
  });
}

void scale_and_shift(RowBlock block, const float* x, const float* residual, const float* scale,
                     const float* shift, bool relu, float* out) {
  const auto rows = residual != nullptr
                        ? (relu ? scale_rows<true, true> : scale_rows<true, false>)
                        : (relu ? scale_rows<false, true> : scale_rows<false, false>);
  rows(block, x, residual, scale, shift, out);
}

// The gradient behind the ReLU, for the channels of one vector.
template <typename V, Mask kMask>
class MaskedGradient {
 public:
  MaskedGradient(const GradientRows& in, std::size_t channel) : in_(in) {
    if constexpr (kMask == Mask::kRecomputed) {
      scale_ = load<V>(in.scale + channel);
      shift_ = load<V>(in.shift + channel);
    }
  }
  V operator()(std::size_t at, V x) const {
    const V dy = load<V>(in_.dy + at);
    if constexpr (kMask == Mask::kRecomputed) return where_positive(x * scale_ + shift_, dy);
    if constexpr (kMask == Mask::kByOutput) return where_positive(load<V>(in_.output + at), dy);
    return dy;
  }

 private:
  const GradientRows& in_;
  V scale_{}, shift_{};
};

template <Mask kMask>
void sum_gradient_rows(RowBlock block, const GradientRows& in, const float* mean, float* sum,
                       float* sum_with_x) {
  over_channels(block.channels, [&](auto tag, std::size_t channel) {
    using V = std::remove_pointer_t<decltype(tag)>;
    const MaskedGradient<V, kMask> gradient(in, channel);
    const V centre = load<V>(mean + channel);
    V sums[2] = {}, with_x[2] = {};
    std::size_t at = channel;
    const auto add = [&](int chain) {
      const V x = load<V>(in.x + at), g = gradient(at, x);
      if constexpr (kMask == Mask::kByOutput) store<V>(in.dy + at, g);
      sums[chain] += g;
      with_x[chain] += g * (x - centre);
      at += block.channels;
    };
    for (std::size_t row = 0; row + 2 <= block.rows; row += 2) {
      add(0);
      add(1);
    }
    if (block.rows % 2 == 1) add(0);
    store<V>(sum + channel, sums[0] + sums[1]);
    store<V>(sum_with_x + channel, with_x[0] + with_x[1]);
  });
}

void sum_gradients(RowBlock block, const GradientRows& in, const float* mean, float* sum,
                   float* sum_with_x) {
  const auto rows = in.mask == Mask::kNone         ? sum_gradient_rows<Mask::kNone>
                    : in.mask == Mask::kRecomputed ? sum_gradient_rows<Mask::kRecomputed>
                                                   : sum_gradient_rows<Mask::kByOutput>;
  rows(block, in, mean, sum, sum_with_x);
}

template <Mask kMask>
void combine_gradient_rows(RowBlock block, const GradientRows& in, const float* mean,
                           const float* of_g, const float* of_x, const float* rest, float* dx) {
  over_channels(block.channels, [&](auto tag, std::size_t channel) {
    using V = std::remove_pointer_t<decltype(tag)>;
    const MaskedGradient<V, kMask> gradient(in, channel);
    const V centre = load<V>(mean + channel), g_factor = load<V>(of_g + channel);
    const V x_factor = load<V>(of_x + channel), constant = load<V>(rest + channel);
    std::size_t at = channel;
    for (std::size_t row = 0; row < block.rows; ++row, at += block.channels) {
      const V x = load<V>(in.x + at);
      store<V>(dx + at, g_factor * gradient(at, x) + (x_factor * (x - centre) + constant));
    }
  });
}

void combine_gradients(RowBlock block, const GradientRows& in, const float* mean, const float* of_g,
                       const float* of_x, const float* rest, float* dx) {
  const auto rows = in.mask == Mask::kRecomputed ? combine_gradient_rows<Mask::kRecomputed>
                                                 : combine_gradient_rows<Mask::kNone>;
  rows(block, in, mean, of_g, of_x, rest, dx);
}

constexpr NormKernels kNormKernels{sum_columns, scale_and_shift, sum_gradients, combine_gradients};

}  // namespace
}  // namespace lockstep
