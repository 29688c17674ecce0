// Numbers of 16 bits instead of 32: fp16 and bf16 (see base/half.h). Messages add up: an all-reduce
// sends 16 bits and adds in float.
#pragma once

#include "lockstep/compress/summed_runs.h"

namespace lockstep {

class SixteenBits : public SummedRuns {
 public:
  explicit SixteenBits(Number number) : number_(number) {}

  void encode(std::span<const float> values, const Moment& moment, Bytes& out) override;
  void add(BytesView message, float scale, std::span<float> sum) const override;
  bool biased() const override { return false; }  // rounded to nearest, up as often as down
  double expected_bytes(const Moment&) const override { return 2.0 * static_cast<double>(size()); }
  Speed speed() const override { return {10e9, 10e9}; }
  Number number() const override { return number_; }

 protected:
  void round_off(float* values, std::size_t n) const override;

 private:
  Number number_;
};

}  // namespace lockstep
