// What compressors have in common that know no more of their layers than where they lie.
#pragma once

#include "lockstep/compress/compressor.h"

namespace lockstep {

class OnRuns : public Compressor {
 public:
  void prepare(std::span<const Layer> layers) override {
    layers_.assign(layers.begin(), layers.end());
    runs_ = runs_of(layers_);
    size_ = size_of(runs_);
  }

 protected:
  std::span<const Layer> layers() const { return layers_; }
  std::span<const Range> runs() const { return runs_; }
  std::size_t size() const { return size_; }  // of all runs together
  std::size_t end() const { return runs_.empty() ? 0 : runs_.back().end(); }
  // A TrainingError if the largest magnitude that a loop has found (see kernels.h) says so.
  void check_finite(std::uint32_t largest, std::span<const float> values) const;

 private:
  std::vector<Layer> layers_;
  std::vector<Range> runs_;
  std::size_t size_ = 0;
};

}  // namespace lockstep
