// What compressors have in common whose messages are the values themselves, in one number or
// another: they add up as they are.
#pragma once

#include "lockstep/base/aligned.h"
#include "lockstep/compress/on_runs.h"

namespace lockstep {

class SummedRuns : public OnRuns, public Summands {
 public:
  bool nearly_exact() const override { return true; }
  Summands* summands() override { return this; }
  int rounds() const override { return 1; }
  std::span<float> summands(int round, std::span<const float> values, std::span<float> mean,
                            const Moment& moment) override;
  void finish(std::span<float> mean, std::span<float> rest) override;

 protected:
  // To what arrives.
  virtual void round_off(float* values, std::size_t n) const = 0;

 private:
  AlignedVector<float> together_;  // where there are several runs
};

}  // namespace lockstep
