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

Halfway halves_of(const torch::Tensor& both) {
  const auto channels = both.size(1) / 2;
  const auto half = [&](std::int64_t from) {
    return both.narrow(1, from, channels).contiguous(at::MemoryFormat::ChannelsLast);
  };
  return {half(0), half(channels)};
}

torch::Tensor joined(const Halfway& half) {
  return at::cat({half.computed, half.carried}, 1).contiguous(at::MemoryFormat::ChannelsLast);
}

}  // namespace

HalfBlock::HalfBlock(ParameterStore& parameters, const BlockShape& shape, LayerPointer convolution,
                     const std::string& norm)
    : LayerOp(parameters), shape_(shape), convolution_(std::move(convolution)) {
  NormShape of_output = shape.norm;
  of_output.channels = shape.out_channels;
  norm_ = std::make_unique<Norm>(parameters, norm, of_output);
}

ResidualOpening::ResidualOpening(ParameterStore& parameters, const std::string& name,
                                 const BlockShape& shape)
    : HalfBlock(parameters, shape,
                make_convolution(parameters, name + ".conv1", shape.first(),
                                 Initial::he(9 * shape.in.channels)),
                name + ".norm1") {}

Halfway ResidualOpening::open(const torch::Tensor& x, const Pass& pass) {
  return {norm_->forward(convolution_->forward(x, pass), pass), carry(x)};
}

torch::Tensor ResidualOpening::open_backward(const Halfway& gradient, const Pass& pass) {
  const auto dx = convolution_->backward(norm_->backward(gradient.computed, pass), pass);
  add_carried_gradient(gradient.carried, dx);
  return dx;
}

torch::Tensor ResidualOpening::apply(const torch::Tensor& x, const Pass& pass) {
  return joined(open(x, pass));
}

torch::Tensor ResidualOpening::differentiate(const torch::Tensor& dy, const Pass& pass) {
  return open_backward(halves_of(dy), pass);
}

torch::Tensor ResidualOpening::carry(const torch::Tensor& x) const {
  if (shape_.carried_as_it_is()) return x;
  const ImageShape in = shape_.in, out = shape_.out();
  auto carried = at::zeros({x.size(0), out.channels, out.height, out.width}, x.options())
                     .contiguous(at::MemoryFormat::ChannelsLast);
  const float* from = x.data_ptr<float>();
  float* to = carried.data_ptr<float>() + zeros_before(in, out);
  for_carried_pixels(x.size(0), in, out, shape_.stride,
                     [&](std::int64_t small, std::int64_t large) {
                       std::memcpy(to + small * out.channels, from + large * in.channels,
                                   static_cast<std::size_t>(in.channels) * sizeof(float));
                     });
  return carried;
}

void ResidualOpening::add_carried_gradient(const torch::Tensor& gradient,
                                           const torch::Tensor& dx) const {
  if (shape_.carried_as_it_is()) {
    dx.add_(gradient);
    return;
  }
  const ImageShape in = shape_.in, out = shape_.out();
  const float* from = gradient.data_ptr<float>() + zeros_before(in, out);
  float* to = dx.data_ptr<float>();
  for_carried_pixels(dx.size(0), in, out, shape_.stride,
                     [&](std::int64_t small, std::int64_t large) {
                       for (std::int64_t c = 0; c < in.channels; ++c) {
                         to[large * in.channels + c] += from[small * out.channels + c];
                       }
                     });
}

void ResidualOpening::emit(ScriptWriter& script) const {
  if (shape_.carried_as_it_is()) {
    script.line("carried = x");
  } else {
    const auto added = shape_.out_channels - shape_.in.channels;
    const auto before = zeros_before(shape_.in, shape_.out());
    script.line(fmt::format(
        "carried = torch.constant_pad_nd(x[:, :, ::{0}, ::{0}], [0, 0, 0, 0, {1}, {2}], 0.0)",
        shape_.stride, before, added - before));
  }
  convolution_->emit(script);
  norm_->emit(script);
}

// Without normalisation the sum of many blocks would grow: each then starts as the identity (Zhang
// et al. 2019, "Fixup").
ResidualClosing::ResidualClosing(ParameterStore& parameters, const std::string& name,
                                 const BlockShape& shape)
    : HalfBlock(parameters, shape,
                make_convolution(parameters, name + ".conv2", shape.second(),
                                 shape.norm.kind == NormShape::Kind::kNone
                                     ? Initial::all(0)
                                     : Initial::he(9 * shape.out_channels)),
                name + ".norm2") {}

torch::Tensor ResidualClosing::close(const Halfway& half, const Pass& pass) {
  return norm_->forward_with(convolution_->forward(half.computed, pass), half.carried, pass);
}

Halfway ResidualClosing::close_backward(const torch::Tensor& dy, const Pass& pass) {
  const auto dx = norm_->backward(dy, pass);  // dy is now the gradient of what was carried
  return {convolution_->backward(dx, pass), dy};
}

torch::Tensor ResidualClosing::apply(const torch::Tensor& x, const Pass& pass) {
  return close(halves_of(x), pass);
}

torch::Tensor ResidualClosing::differentiate(const torch::Tensor& dy, const Pass& pass) {
  return joined(close_backward(dy, pass));
}

void ResidualClosing::emit(ScriptWriter& script) const {
  convolution_->emit(script);
  norm_->emit_with(script, "carried");
}

void ResidualBlock::forward_without_samples(const Pass& pass) {
  opening_->forward_without_samples(pass);
  closing_->forward_without_samples(pass);
}

void ResidualBlock::backward_without_samples(const Pass& pass) {
  closing_->backward_without_samples(pass);
  opening_->backward_without_samples(pass);
}

void ResidualBlock::emit(ScriptWriter& script) const {
  opening_->emit(script);
  closing_->emit(script);
}

void ResidualBlock::add_operations(std::span<double> by_parameter) const {
  opening_->add_operations(by_parameter);
  closing_->add_operations(by_parameter);
}

}  // namespace lockstep
