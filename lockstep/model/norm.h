// Normalisation with what usually follows it: scale and shift, an optional residual addition and an
// optional ReLU, in two passes over memory forward and two backward.
//
// Statistics are taken over segments of the batch. Batch norm (Ioffe & Szegedy 2015): a segment is
// the samples of one worker, or all samples of all workers that share statistics. Group norm (Wu &
// He 2018): a segment is one sample, and channels of a group share statistics. None: only a bias.
#pragma once

#include "lockstep/model/layer_op.h"
#include "lockstep/model/norm_segments.h"

namespace lockstep {

struct NormShape {
  enum class Kind { kBatch, kGroup, kNone };
  Kind kind = Kind::kBatch;
  std::int64_t channels = 0;
  std::int64_t groups = 1;  // kGroup
  bool relu = true;
  bool shared = false;  // kBatch: one statistic for all workers
  bool batch_only =
      false;  // kBatch: no moving averages; evaluation too uses the batch's statistics
};

class Norm : public LayerOp {
 public:
  static constexpr double kEpsilon = 1e-5;
  static constexpr double kMomentum = 0.1;  // of the moving averages

  Norm(ParameterStore& parameters, const std::string& name, const NormShape& shape);

  // The residual may be undefined.
  torch::Tensor forward_with(const torch::Tensor& x, const torch::Tensor& residual,
                             const Pass& pass);
  // backward() leaves the gradient of the residual in dy, if forward had one.

  void forward_without_samples(const Pass& pass) override;
  void backward_without_samples(const Pass& pass) override;
  void emit(ScriptWriter& script) const override { emit_with(script, ""); }
  void emit_with(ScriptWriter& script, const std::string& residual) const;
  bool has_parameters() const override { return true; }

 protected:
  torch::Tensor apply(const torch::Tensor& x, const Pass& pass) override;
  torch::Tensor differentiate(const torch::Tensor& dy, const Pass& pass) override;

 private:
  using Sums = std::vector<double>;  // two sums a channel, segment after segment

  bool is(NormShape::Kind kind) const { return shape_.kind == kind; }
  bool moving_averages() const { return is(NormShape::Kind::kBatch) && !shape_.batch_only; }
  std::size_t channels() const { return static_cast<std::size_t>(shape_.channels); }
  std::size_t group_size() const;
  double rows_of(std::size_t segment) const;
  std::vector<float> weights() const;

  void set_segments(std::size_t rows, const Pass& pass);
  void share(Sums& sums, const Pass& pass);
  void find_statistics(const torch::Tensor& x, const Pass& pass);
  void set_statistics(const Sums& sums, const std::vector<float>& origins);
  void take_moving_averages();
  void update_moving_averages();
  void set_scale_and_shift();
  void set_parameter_gradients(const Sums& sums, const Pass& pass);
  struct InputGradient {
    std::vector<float> g, x, rest;  // dx = g·(masked dy) + x·(x − mean) + rest
  };
  InputGradient input_gradient(const Sums& sums) const;

  NormShape shape_;
  std::size_t weight_ = 0, bias_ = 0, mean_buffer_ = 0, variance_buffer_ = 0;
  NormSegments segments_;
  double shared_rows_ = 0;  // of all workers that share statistics
  // A value a channel, segment after segment.
  std::vector<float> mean_, variance_, inverse_deviation_, scale_, shift_;
  bool had_residual_ = false;
  torch::Tensor x_, y_;  // y only where the ReLU's mask cannot be found from x
};

}  // namespace lockstep
