#include "lockstep/model/residual_block.h"

#include <fmt/format.h>

#include <cstring>

namespace lockstep {
namespace {

// Calls body(pixel of the small image, pixel of the large one) for those that are carried over.
template <typename Body>
void for_carried_pixels(std::int64_t samples, const ImageShape& large, const ImageShape& small,
                        int stride, const Body& body) {
  for (std::int64_t n = 0; n < samples; ++n) {
    for (std::int64_t row = 0; row < small.height; ++row) {
      for (std::int64_t column = 0; column < small.width; ++column) {
        body((n * small.height + row) * small.width + column,
             (n * large.height + row * stride) * large.width + column * stride);
      }
    }
  }
}

std::int64_t zeros_before(const ImageShape& in, const ImageShape& out) {
  return (out.channels - in.channels) / 2;
}

}  // namespace

ResidualBlock::ResidualBlock(ParameterStore& parameters, const std::string& name,
                             const ImageShape& in, std::int64_t out_channels, int stride,
                             NormShape norm)
    : LayerOp(parameters), in_(in), stride_(stride) {
  const ConvolutionShape first{in, out_channels, 3, stride, 1};
  out_ = first.out();
  const ConvolutionShape second{out_, out_channels, 3, 1, 1};
  norm.channels = out_channels;
  // Without normalisation the sum of many blocks would grow: each then starts as the identity
  // (Zhang et al. 2019, "Fixup").
  const auto he = Initial::he(9 * out_channels);
  const auto last = norm.kind == NormShape::Kind::kNone ? Initial::all(0) : he;
  first_convolution_ =
      make_convolution(parameters, name + ".conv1", first, Initial::he(9 * in.channels));
  first_norm_ = std::make_unique<Norm>(parameters, name + ".norm1", norm);
  second_convolution_ = make_convolution(parameters, name + ".conv2", second, last);
  second_norm_ = std::make_unique<Norm>(parameters, name + ".norm2", norm);
}

torch::Tensor ResidualBlock::apply(const torch::Tensor& x, const Pass& pass) {
  auto y = first_norm_->forward(first_convolution_->forward(x, pass), pass);
  return second_norm_->forward_with(second_convolution_->forward(y, pass), carry(x), pass);
}

torch::Tensor ResidualBlock::differentiate(const torch::Tensor& dy, const Pass& pass) {
  auto dx = second_norm_->backward(dy, pass);  // dy is now the gradient of what was carried
  dx = first_norm_->backward(second_convolution_->backward(dx, pass), pass);
  dx = first_convolution_->backward(dx, pass);
  add_carried_gradient(dy, dx);
  return dx;
}

torch::Tensor ResidualBlock::carry(const torch::Tensor& x) const {
  if (carried_as_it_is()) return x;
  auto carried = at::zeros({x.size(0), out_.channels, out_.height, out_.width}, x.options())
                     .contiguous(at::MemoryFormat::ChannelsLast);
  const float* from = x.data_ptr<float>();
  float* to = carried.data_ptr<float>() + zeros_before(in_, out_);
  for_carried_pixels(x.size(0), in_, out_, stride_, [&](std::int64_t small, std::int64_t large) {
    std::memcpy(to + small * out_.channels, from + large * in_.channels,
                static_cast<std::size_t>(in_.channels) * sizeof(float));
  });
  return carried;
}

void ResidualBlock::add_carried_gradient(const torch::Tensor& gradient,
                                         const torch::Tensor& dx) const {
  if (carried_as_it_is()) {
    dx.add_(gradient);
    return;
  }
  const float* from = gradient.data_ptr<float>() + zeros_before(in_, out_);
  float* to = dx.data_ptr<float>();
  for_carried_pixels(dx.size(0), in_, out_, stride_, [&](std::int64_t small, std::int64_t large) {
    for (std::int64_t c = 0; c < in_.channels; ++c) {
      to[large * in_.channels + c] += from[small * out_.channels + c];
    }
  });
}

void ResidualBlock::forward_without_samples(const Pass& pass) {
  first_norm_->forward_without_samples(pass);
  second_norm_->forward_without_samples(pass);
}

void ResidualBlock::backward_without_samples(const Pass& pass) {
  second_norm_->backward_without_samples(pass);
  first_norm_->backward_without_samples(pass);
}

void ResidualBlock::emit(ScriptWriter& script) const {
  if (carried_as_it_is()) {
    script.line("carried = x");
  } else {
    const auto before = zeros_before(in_, out_);
    script.line(fmt::format(
        "carried = torch.constant_pad_nd(x[:, :, ::{0}, ::{0}], [0, 0, 0, 0, {1}, {2}], 0.0)",
        stride_, before, out_.channels - in_.channels - before));
  }
  first_convolution_->emit(script);
  first_norm_->emit(script);
  second_convolution_->emit(script);
  second_norm_->emit_with(script, "carried");
}

void ResidualBlock::add_operations(std::span<double> by_parameter) const {
  first_convolution_->add_operations(by_parameter);
  second_convolution_->add_operations(by_parameter);
}

}  // namespace lockstep
