// Nothing is compressed: floats as they are. What the rules of [compress] leave alone.
#include <algorithm>

#include "lockstep/compress/kernels.h"
#include "lockstep/compress/summed_runs.h"

namespace lockstep {
namespace {

class None : public SummedRuns {
 public:
  void encode(std::span<const float> values, const Moment&, Bytes& out) override {
    for (const Range& run : runs()) {
      check_finite(compress_kernels().largest(values.data() + run.begin, run.size), values);
      std::memcpy(out.extend(run.size * sizeof(float)), values.data() + run.begin,
                  run.size * sizeof(float));
    }
  }
  void add(BytesView message, float scale, std::span<float> sum) const override {
    BytesReader reader(message);
    const CompressKernels& kernels = compress_kernels();
    constexpr std::size_t kBlock = 1024;  // messages need not be aligned
    float block[kBlock];
    for (const Range& run : runs()) {
      for (std::size_t at = 0; at < run.size; at += kBlock) {
        const std::size_t count = std::min(kBlock, run.size - at);
        std::memcpy(block, reader.take(count * sizeof(float)).data(), count * sizeof(float));
        kernels.add_scaled(block, count, scale, sum.data() + run.begin + at);
      }
    }
    reader.end();
  }

  bool biased() const override { return false; }
  bool lossless() const override { return true; }
  double expected_bytes(const Moment&) const override {
    return static_cast<double>(size() * sizeof(float));
  }
  Speed speed() const override { return {10e9, 10e9}; }

 protected:
  void round_off(float*, std::size_t) const override {}
};

const Registration<Compressor> kNone{
    "none", "Floats as they are.", {}, [](const Options&) { return std::make_unique<None>(); }};

}  // namespace
}  // namespace lockstep
