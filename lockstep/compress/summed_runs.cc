#include "lockstep/compress/summed_runs.h"

#include <algorithm>

#include "lockstep/compress/kernels.h"

namespace lockstep {

std::span<float> SummedRuns::summands(int, std::span<const float> values, std::span<float> mean,
                                      const Moment&) {
  for (const Range& run : runs()) {
    check_finite(compress_kernels().largest(values.data() + run.begin, run.size), values);
  }
  if (runs().empty()) return {};
  const bool in_place = runs().size() == 1;
  const bool keeps = values.data() != mean.data();  // will its errors be fed back?
  std::span<float> all;
  if (in_place) {
    all = mean.subspan(runs()[0].begin, size());
    if (keeps) std::copy_n(values.data() + runs()[0].begin, size(), all.begin());
  } else {
    together_.resize(size());
    all = together_;
    float* to = all.data();
    for (const Range& run : runs()) to = std::copy_n(values.data() + run.begin, run.size, to);
  }
  // Whoever adds, what this member counts for is then what it believes to have sent.
  if (keeps) round_off(all.data(), all.size());
  return all;
}

void SummedRuns::finish(std::span<float> mean, std::span<float> rest) {
  const float* from = together_.data();
  for (const Range& run : runs()) {
    if (runs().size() > 1) {
      std::copy_n(from, run.size, mean.data() + run.begin);
      from += run.size;
    }
    if (rest.empty()) continue;
    constexpr std::size_t kBlock = 1024;
    float block[kBlock];
    for (std::size_t at = 0; at < run.size; at += kBlock) {
      const std::size_t count = std::min(kBlock, run.size - at);
      float* const left = rest.data() + run.begin + at;
      std::copy_n(left, count, block);
      round_off(block, count);
      for (std::size_t i = 0; i < count; ++i) left[i] -= block[i];
    }
  }
}

}  // namespace lockstep
