// The parameters of a chain of layers: declared with their initial values, kept as float masters in
// flat vectors, and read by the layers as they compute with them (rounded in 16-bit precision).
#pragma once

#include <torch/torch.h>

#include <string>
#include <vector>

#include "lockstep/model/flat_parameters.h"
#include "lockstep/model/precision.h"

namespace lockstep {

// Initial values: all the same, or normal with mean 0.
struct Initial {
  double constant = 0;
  double deviation = 0;
  static Initial all(double value) { return {value, 0}; }
  static Initial normal(double deviation) { return {0, deviation}; }
  static Initial he(std::int64_t fan_in);  // before a ReLU (He et al. 2015)
};

class ParameterStore {
 public:
  // After allocate() both give the number that the name has: for another copy of the layers.
  std::size_t declare(std::string name, std::vector<std::int64_t> shape, LayerKind kind,
                      Initial initial);
  std::size_t declare_buffer(std::string name, std::vector<std::int64_t> shape, double value);

  // Values depend on the seed and on the parameter's name only, so they are the same everywhere.
  void allocate(std::uint64_t seed, Precision precision);
  // After the masters were changed: rounds the copies.
  void refresh();

  torch::Tensor value(std::size_t index) const;  // what to compute with
  torch::Tensor master(std::size_t index) const { return flat_.parameter(index); }
  // Where to write a gradient. While gradients add up that is a place beside it, the same for all:
  // gradient_done() must follow before the next one is asked for. What adds by itself asks for the
  // sum.
  torch::Tensor gradient(std::size_t index);
  std::span<float> gradient_values(std::size_t index);
  torch::Tensor gradient_sum(std::size_t index) const { return flat_.gradient(index); }
  void gradient_done(std::size_t index);
  void add_up(bool adds) { adds_ = adds; }
  bool adds_up() const { return adds_; }
  torch::Tensor buffer(std::size_t index) const { return flat_.buffer(index); }
  FlatParameters& flat() { return flat_; }
  const FlatParameters& flat() const { return flat_; }

 private:
  FlatParameters flat_;
  std::vector<Initial> initials_, buffer_initials_;
  Precision precision_ = Precision::kFloat;
  bool allocated_ = false, adds_ = false;
  AlignedVector<float> addend_;
  AlignedVector<float> rounded_;  // empty in float precision; scales and shifts of norms stay float
  std::vector<torch::Tensor> rounded_views_;
};

}  // namespace lockstep
