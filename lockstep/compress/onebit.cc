// 1-bit SGD (Seide et al. 2014): of every value only the sign is sent, and for every layer the mean
// of its values ≥ 0 and the mean of those < 0, which stand for them. What that leaves out is large,
// so it must be fed back.
//
//   0.1  0.15  −0.2  20  15.3  −1.222   →   8.8875  8.8875  −0.711  8.8875  8.8875  −0.711
#include <algorithm>
#include <cmath>

#include "lockstep/compress/kernels.h"
#include "lockstep/compress/on_runs.h"

namespace lockstep {
namespace {

float mean_of(double sum, std::size_t count) {
  return count == 0 ? 0.0f : static_cast<float>(sum / static_cast<double>(count));
}

class OneBit : public OnRuns {
 public:
  void encode(std::span<const float> values, const Moment&, Bytes& out) override {
    const CompressKernels& kernels = compress_kernels();
    for (const Layer& layer : layers()) {
      const std::size_t means = out.size();
      out.extend(2 * sizeof(float));
      const SignSums sums = kernels.pack_signs(values.data() + layer.offset, layer.size,
                                               out.extend((layer.size + 7) / 8));
      check_finite(sums.largest, values);
      const float plus = mean_of(sums.plus, sums.pluses);
      const float minus = mean_of(sums.minus, layer.size - sums.pluses);
      std::memcpy(out.at(means), &plus, sizeof plus);
      std::memcpy(out.at(means + sizeof plus), &minus, sizeof minus);
    }
  }

  void add(BytesView message, float scale, std::span<float> sum) const override {
    BytesReader reader(message);
    for (const Layer& layer : layers()) {
      const auto plus = reader.get<float>(), minus = reader.get<float>();
      if (!std::isfinite(plus) || !std::isfinite(minus)) {
        throw CommError("a onebit message has a mean that is not finite");
      }
      const BytesView bits = reader.take((layer.size + 7) / 8);
      compress_kernels().add_signs(bits.data(), layer.size, scale * plus, scale * minus,
                                   sum.data() + layer.offset);
    }
    reader.end();
  }

  bool biased() const override { return true; }
  double expected_bytes(const Moment&) const override {
    return static_cast<double>(size()) / 8 + 8 * static_cast<double>(layers().size());
  }
  Speed speed() const override { return {9e9, 9e9}; }
};

const Registration<Compressor> kOneBit{
    "onebit", "The sign of every value, and two means a layer.", {}, [](const Options&) {
      return std::make_unique<OneBit>();
    }};

}  // namespace
}  // namespace lockstep
