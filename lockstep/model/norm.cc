#include "lockstep/model/norm.h"

#include <fmt/format.h>

#include "lockstep/base/error.h"
#include "lockstep/model/norm_kernels.h"

namespace lockstep {

Norm::Norm(ParameterStore& parameters, const std::string& name, const NormShape& shape)
    : LayerOp(parameters), shape_(shape) {
  const std::vector<std::int64_t> one_a_channel{shape.channels};
  if (is(NormShape::Kind::kNone)) {
    bias_ = parameters.declare(name + ".bias", one_a_channel, LayerKind::kBias, Initial::all(0));
    return;
  }
  weight_ = parameters.declare(name + ".weight", one_a_channel, LayerKind::kNorm, Initial::all(1));
  bias_ = parameters.declare(name + ".bias", one_a_channel, LayerKind::kNorm, Initial::all(0));
  if (moving_averages()) {
    mean_buffer_ = parameters.declare_buffer(name + ".running_mean", one_a_channel, 0);
    variance_buffer_ = parameters.declare_buffer(name + ".running_var", one_a_channel, 1);
  }
}

torch::Tensor Norm::apply(const torch::Tensor& x, const Pass& pass) {
  return forward_with(x, {}, pass);
}

torch::Tensor Norm::forward_with(const torch::Tensor& x, const torch::Tensor& residual,
                                 const Pass& pass) {
  LOCKSTEP_CHECK(x.is_contiguous(at::MemoryFormat::ChannelsLast), "an image not channels-last");
  set_segments(static_cast<std::size_t>(x.numel() / shape_.channels), pass);
  if (is(NormShape::Kind::kNone)) {
    mean_.assign(channels(), 0.0f);
  } else if (!pass.training && moving_averages()) {
    take_moving_averages();
  } else {
    find_statistics(x, pass);
    if (pass.training && moving_averages()) update_moving_averages();
  }
  set_scale_and_shift();

  auto y = pass.memory.image_like(x);
  const float* in = x.data_ptr<float>();
  const float* added = residual.defined() ? residual.data_ptr<float>() : nullptr;
  float* out = y.data_ptr<float>();
  segments_.for_each_block([&](const NormSegments::Block& block, std::size_t) {
    const std::size_t at = block.first * channels(), of_segment = block.segment * channels();
    norm_kernels().scale_and_shift(
        {block.rows, channels()}, in + at, added == nullptr ? nullptr : added + at,
        scale_.data() + of_segment, shift_.data() + of_segment, shape_.relu, out + at);
  });
  pass.round(y);
  if (pass.training) {
    x_ = x;
    had_residual_ = residual.defined();
    if (had_residual_ && shape_.relu) y_ = y;
  }
  return y;
}

torch::Tensor Norm::differentiate(const torch::Tensor& given, const Pass& pass) {
  const auto dy = given.contiguous(at::MemoryFormat::ChannelsLast);
  LOCKSTEP_CHECK(!had_residual_ || dy.is_same(given), "no place for the gradient of the residual");
  const auto rows_at = [&](std::size_t row, std::size_t segment) {
    GradientRows rows;
    rows.dy = dy.data_ptr<float>() + row * channels();
    rows.x = x_.data_ptr<float>() + row * channels();
    if (y_.defined()) rows.output = y_.data_ptr<float>() + row * channels();
    rows.scale = scale_.data() + segment * channels();
    rows.shift = shift_.data() + segment * channels();
    rows.mask = !shape_.relu ? Mask::kNone : y_.defined() ? Mask::kByOutput : Mask::kRecomputed;
    return rows;
  };
  auto sums = segments_.sums(2 * channels(), [&](const NormSegments::Block& block, float* out) {
    norm_kernels().sum_gradients({block.rows, channels()}, rows_at(block.first, block.segment),
                                 mean_.data() + block.segment * channels(), out, out + channels());
  });
  set_parameter_gradients(sums, pass);
  if (shape_.shared) share(sums, pass);

  const InputGradient of = input_gradient(sums);
  const auto dx = had_residual_ ? pass.memory.image_like(dy) : dy;
  segments_.for_each_block([&](const NormSegments::Block& block, std::size_t) {
    const std::size_t at = block.segment * channels();
    norm_kernels().combine_gradients({block.rows, channels()}, rows_at(block.first, block.segment),
                                     mean_.data() + at, of.g.data() + at, of.x.data() + at,
                                     of.rest.data() + at,
                                     dx.data_ptr<float>() + block.first * channels());
  });
  x_.reset();
  y_.reset();
  return dx;
}

void Norm::set_parameter_gradients(const Sums& sums, const Pass& pass) {
  std::vector<double> weight(channels(), 0), bias(channels(), 0);
  for (std::size_t s = 0; s < segments_.size(); ++s) {
    const double* sum = sums.data() + s * 2 * channels();
    for (std::size_t c = 0; c < channels(); ++c) {
      bias[c] += sum[c];
      weight[c] += sum[channels() + c] * inverse_deviation_[s * channels() + c];
    }
  }
  std::copy(bias.begin(), bias.end(), parameters_.gradient_values(bias_).begin());
  pass.gradient_done(bias_);
  if (is(NormShape::Kind::kNone)) return;
  std::copy(weight.begin(), weight.end(), parameters_.gradient_values(weight_).begin());
  pass.gradient_done(weight_);
}

// With x̂ = (x − mean)·d and averages ⟨·⟩ over what shares statistics,
//   dx = d·(w·g − ⟨w·g⟩ − x̂·⟨w·g·x̂⟩),
// of which the factors of g and of x − mean and the rest are the same for a whole channel.
Norm::InputGradient Norm::input_gradient(const Sums& sums) const {
  const auto weight = weights();
  const std::size_t group = group_size();
  InputGradient of;
  of.g = of.x = of.rest = std::vector<float>(segments_.size() * channels(), 0.0f);
  for (std::size_t s = 0; s < segments_.size(); ++s) {
    const std::size_t at = s * channels();
    const double* sum = sums.data() + s * 2 * channels();
    const double count = rows_of(s) * static_cast<double>(group);
    for (std::size_t first = 0; first < channels(); first += group) {
      double mean_g = 0, mean_gx = 0;
      for (std::size_t c = first; c < first + group && !is(NormShape::Kind::kNone); ++c) {
        mean_g += weight[c] * sum[c] / count;
        mean_gx += weight[c] * sum[channels() + c] * inverse_deviation_[at + c] / count;
      }
      for (std::size_t c = first; c < first + group; ++c) {
        const double inverse = inverse_deviation_[at + c];
        of.g[at + c] = scale_[at + c];
        of.x[at + c] = static_cast<float>(-inverse * inverse * mean_gx);
        of.rest[at + c] = static_cast<float>(-inverse * mean_g);
      }
    }
  }
  return of;
}

void Norm::forward_without_samples(const Pass& pass) {
  if (!shape_.shared) return;
  set_segments(0, pass);
  find_statistics({}, pass);
  if (moving_averages()) update_moving_averages();
}

void Norm::backward_without_samples(const Pass& pass) {
  if (!shape_.shared) return;
  Sums sums(2 * channels(), 0);
  share(sums, pass);
}

void Norm::emit_with(ScriptWriter& script, const std::string& residual) const {
  const auto bias = script.parameter(bias_);
  if (is(NormShape::Kind::kNone)) {
    script.assign(fmt::format("x + {}.view([1, -1, 1, 1])", bias));
  } else if (is(NormShape::Kind::kGroup)) {
    script.assign(fmt::format("torch.group_norm(x, {}, {}, {}, {})", shape_.groups,
                              script.parameter(weight_), bias, kEpsilon));
  } else if (shape_.batch_only) {
    script.assign(fmt::format("torch.batch_norm(x, {}, {}, None, None, True, 0.0, {}, False)",
                              script.parameter(weight_), bias, kEpsilon));
  } else {
    script.assign(fmt::format("torch.batch_norm(x, {}, {}, {}, {}, self.training, {}, {}, False)",
                              script.parameter(weight_), bias, script.buffer(mean_buffer_),
                              script.buffer(variance_buffer_), kMomentum, kEpsilon));
  }
  if (!residual.empty()) script.assign("x + " + residual);
  if (shape_.relu) script.assign("torch.relu(x)");
}

}  // namespace lockstep
