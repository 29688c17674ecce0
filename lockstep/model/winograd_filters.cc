// Winograd's transforms of the filters, sixteen output channels at a time: U lies place, block of
// sixteen output channels, input channel, output channel of the block.
#include <algorithm>

#include "lockstep/model/winograd.h"

namespace lockstep {
namespace {

constexpr std::size_t kBlock = 16;
struct Channels {
  float of[kBlock];
};

// The sum of a filter's rows or columns with alternating signs, halved, as G has them.
inline Channels half(const Channels& a, const Channels& b, const Channels& c, float sign) {
  Channels sum;
  for (std::size_t i = 0; i < kBlock; ++i) {
    sum.of[i] = 0.5f * (a.of[i] + c.of[i] + sign * b.of[i]);
  }
  return sum;
}

// a + (b + c)/2 and (b − c)/2, as Gᵀ has them.
inline Channels outer(const Channels& a, const Channels& b, const Channels& c) {
  Channels sum;
  for (std::size_t i = 0; i < kBlock; ++i) sum.of[i] = a.of[i] + 0.5f * (b.of[i] + c.of[i]);
  return sum;
}
inline Channels middle(const Channels& b, const Channels& c) {
  Channels sum;
  for (std::size_t i = 0; i < kBlock; ++i) sum.of[i] = 0.5f * (b.of[i] - c.of[i]);
  return sum;
}

// G g Gᵀ; place k of the result goes to u + k·stride.
void transform(const Channels (&g)[9], float* u, std::size_t stride) {
  Channels t[12];
  for (std::size_t c = 0; c < 3; ++c) {
    t[c] = g[c];
    t[3 + c] = half(g[c], g[3 + c], g[6 + c], 1);
    t[6 + c] = half(g[c], g[3 + c], g[6 + c], -1);
    t[9 + c] = g[6 + c];
  }
  const auto put = [&](std::size_t place, const Channels& values) {
    std::copy_n(values.of, kBlock, u + place * stride);
  };
  for (std::size_t r = 0; r < 4; ++r) {
    put(4 * r, t[3 * r]);
    put(4 * r + 1, half(t[3 * r], t[3 * r + 1], t[3 * r + 2], 1));
    put(4 * r + 2, half(t[3 * r], t[3 * r + 1], t[3 * r + 2], -1));
    put(4 * r + 3, t[3 * r + 2]);
  }
}

// Gᵀ dU G
void transform_back(const float* du, std::size_t stride, Channels (&g)[9]) {
  Channels t[12];
  for (std::size_t r = 0; r < 4; ++r) {
    Channels row[4];
    for (std::size_t c = 0; c < 4; ++c) {
      std::copy_n(du + (4 * r + c) * stride, kBlock, row[c].of);
    }
    t[3 * r] = outer(row[0], row[1], row[2]);
    t[3 * r + 1] = middle(row[1], row[2]);
    t[3 * r + 2] = outer(row[3], row[1], row[2]);
  }
  for (std::size_t c = 0; c < 3; ++c) {
    g[c] = outer(t[c], t[3 + c], t[6 + c]);
    g[3 + c] = middle(t[3 + c], t[6 + c]);
    g[6 + c] = outer(t[9 + c], t[3 + c], t[6 + c]);
  }
}

}  // namespace

void Winograd::transform_filter(std::size_t in, std::size_t out, const float* weights, float* u) {
  for (std::size_t o = 0; o < out; o += kBlock) {
    for (std::size_t i = 0; i < in; ++i) {
      Channels g[9];
      for (std::size_t c = 0; c < kBlock; ++c) {
        const float* filter = weights + ((o + c) * in + i) * 9;
        for (std::size_t tap = 0; tap < 9; ++tap) g[tap].of[c] = filter[tap];
      }
      transform(g, u + o * in + i * kBlock, in * out);
    }
  }
}

void Winograd::transform_turned_filter(std::size_t in, std::size_t out, const float* weights,
                                       float* u) {
  for (std::size_t i = 0; i < in; i += kBlock) {
    for (std::size_t o = 0; o < out; ++o) {
      Channels g[9];
      const float* filters = weights + (o * in + i) * 9;
      for (std::size_t c = 0; c < kBlock; ++c) {
        for (std::size_t tap = 0; tap < 9; ++tap) g[8 - tap].of[c] = filters[c * 9 + tap];
      }
      transform(g, u + i * out + o * kBlock, in * out);
    }
  }
}

void Winograd::finish_filter_gradient(std::size_t in, std::size_t out, const float* du,
                                      float* gradient) {
  for (std::size_t o = 0; o < out; o += kBlock) {
    for (std::size_t i = 0; i < in; ++i) {
      Channels g[9];
      transform_back(du + o * in + i * kBlock, in * out, g);
      for (std::size_t c = 0; c < kBlock; ++c) {
        float* filter = gradient + ((o + c) * in + i) * 9;
        for (std::size_t tap = 0; tap < 9; ++tap) filter[tap] = g[tap].of[c];
      }
    }
  }
}

}  // namespace lockstep
