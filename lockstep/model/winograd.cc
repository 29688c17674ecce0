// Compiled with -mavx2 -mfma where the compiler knows them (see lockstep/CMakeLists.txt).
#include "lockstep/model/winograd.h"

#include <algorithm>

#include "lockstep/base/error.h"

#if defined(__AVX2__) && defined(__FMA__)
#include "lockstep/model/winograd_tiles.h"
#endif

namespace lockstep {
namespace {

constexpr std::size_t kBlock = 16;  // output channels that the products take together
// Floats of a chunk's V at one place; a multiple of six tiles for 16, 32 and 64 channels.
constexpr std::size_t kChunkFloats = 1536;

}  // namespace

Winograd::Winograd(std::size_t images, std::size_t height, std::size_t width, std::size_t in,
                   std::size_t out)
    : height_(height),
      width_(width),
      in_(in),
      out_(out),
      tiles_(images * ((height + 1) / 2) * ((width + 1) / 2)),
      chunk_tiles_(std::max<std::size_t>(6, kChunkFloats / std::max(in, out))) {}

std::size_t Winograd::chunks() const {
  return (tiles_ + chunk_tiles_ - 1) / chunk_tiles_;
}

#if defined(__AVX2__) && defined(__FMA__)

bool Winograd::possible(std::size_t in, std::size_t out) {
  return in % kBlock == 0 && out % kBlock == 0 && __builtin_cpu_supports("avx2") &&
         __builtin_cpu_supports("fma");
}

// A chunk's place in the scratch memory: V, M, and zeros to read where an image ends.
Winograd::Work Winograd::work_on(std::size_t chunk, Scratch& scratch) const {
  constexpr std::size_t kGap = 16;  // so that the places do not fall on the same cache lines
  Work work;
  work.first = chunk * chunk_tiles_;
  work.tiles = std::min(chunk_tiles_, tiles_ - work.first);
  work.v_stride = chunk_tiles_ * in_ + kGap;
  work.m_stride = chunk_tiles_ * out_ + kGap;
  const std::size_t size = kPlaces * (work.v_stride + work.m_stride), zeros = std::max(in_, out_);
  if (scratch.size() < size + zeros) scratch.resize(size + zeros);
  work.v = scratch.data();
  work.m = work.v + kPlaces * work.v_stride;
  work.zeros = scratch.data() + size;
  std::fill_n(scratch.data() + size, zeros, 0.0f);
  return work;
}

void Winograd::transform_inputs(const Work& work, const float* x) const {
  TileWalk walk(height_, width_, in_, work.first);
  for (std::size_t t = 0; t < work.tiles; ++t, walk.advance()) {
    const float* pixels[16];
    walk.input(x, work.zeros, pixels);
    for (std::size_t c = 0; c < in_; c += kLanes) {
      transform_input(pixels, c, work.v + t * in_ + c, work.v_stride);
    }
  }
}

void Winograd::convolve(std::size_t chunk, const float* x, const float* u, float* y,
                        Scratch& scratch) const {
  const Work work = work_on(chunk, scratch);
  transform_inputs(work, x);
  for (std::size_t k = 0; k < kPlaces; ++k) {
    for (std::size_t o = 0; o < out_; o += kBlock) {
      multiply_rows<false>(work.tiles, work.v + k * work.v_stride, in_, 1, u + (k * out_ + o) * in_,
                           kBlock, in_, work.m + k * work.m_stride + o, out_);
    }
  }
  TileWalk walk(height_, width_, out_, work.first);
  for (std::size_t t = 0; t < work.tiles; ++t, walk.advance()) {
    float* pixels[4];
    walk.output(y, static_cast<float*>(nullptr), pixels);
    for (std::size_t c = 0; c < out_; c += kLanes) {
      transform_output(work.m + t * out_ + c, work.m_stride, pixels, c);
    }
  }
}

void Winograd::add_filter_gradient(std::size_t chunk, const float* x, const float* dy, float* du,
                                   Scratch& scratch) const {
  const Work work = work_on(chunk, scratch);
  transform_inputs(work, x);
  TileWalk walk(height_, width_, out_, work.first);
  for (std::size_t t = 0; t < work.tiles; ++t, walk.advance()) {
    const float* pixels[4];
    walk.output(dy, work.zeros, pixels);
    for (std::size_t c = 0; c < out_; c += kLanes) {
      transform_gradient(pixels, c, work.m + t * out_ + c, work.m_stride);
    }
  }
  for (std::size_t k = 0; k < kPlaces; ++k) {
    for (std::size_t o = 0; o < out_; o += kBlock) {
      multiply_rows<true>(in_, work.v + k * work.v_stride, 1, in_, work.m + k * work.m_stride + o,
                          out_, work.tiles, du + (k * out_ + o) * in_, kBlock);
    }
  }
}

#else

bool Winograd::possible(std::size_t, std::size_t) {
  return false;
}

void Winograd::convolve(std::size_t, const float*, const float*, float*, Scratch&) const {
  LOCKSTEP_CHECK(false, "Winograd::possible() said no");
}

void Winograd::add_filter_gradient(std::size_t, const float*, const float*, float*,
                                   Scratch&) const {
  LOCKSTEP_CHECK(false, "Winograd::possible() said no");
}

#endif

}  // namespace lockstep
