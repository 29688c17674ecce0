// A square convolution without bias (the normalisation that follows has one), channels-last: by
// Winograd's method where it applies, else by oneDNN through torch.
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include "lockstep/model/layers.h"
#include "lockstep/model/winograd.h"

namespace lockstep {
namespace {

class Convolution : public LayerOp {
 public:
  Convolution(ParameterStore& parameters, const std::string& name, const ConvolutionShape& shape,
              Initial initial)
      : LayerOp(parameters), shape_(shape) {
    weight_ = parameters.declare(
        name + ".weight", {shape.out_channels, shape.in.channels, shape.kernel, shape.kernel},
        LayerKind::kWeight, initial);
    by_winograd_ = shape.kernel == 3 && shape.stride == 1 && shape.padding == 1 &&
                   Winograd::possible(in(), out());
  }

  torch::Tensor apply(const torch::Tensor& x, const Pass& pass) override {
    if (pass.training) x_ = x;
    if (by_winograd_) {
      Winograd::transform_filter(in(), out(), weights(), filter());
      return convolve(x, out(), pass);
    }
    return at::convolution(x, parameters_.value(weight_), {}, {shape_.stride, shape_.stride},
                           {shape_.padding, shape_.padding}, {1, 1}, false, {0, 0}, 1)
        .contiguous(at::MemoryFormat::ChannelsLast);
  }

  torch::Tensor differentiate(const torch::Tensor& given, const Pass& pass) override {
    const auto dy = given.contiguous(at::MemoryFormat::ChannelsLast);
    // The weights first: their gradient may be on its way to others while dx is computed.
    if (by_winograd_) {
      set_weight_gradient(dy);
    } else {
      parameters_.gradient(weight_).copy_(std::get<1>(derive(dy, {false, true, false})));
    }
    pass.gradient_done(weight_);
    torch::Tensor dx;
    if (!first() && by_winograd_) {
      Winograd::transform_turned_filter(in(), out(), weights(), filter());
      dx = convolve(dy, in(), pass);
    } else if (!first()) {
      dx = std::get<0>(derive(dy, {true, false, false})).contiguous(at::MemoryFormat::ChannelsLast);
    }
    x_.reset();
    return dx;
  }

  void emit(ScriptWriter& script) const override {
    script.assign(fmt::format("torch.conv2d(x, {}, None, [{s}, {s}], [{p}, {p}])",
                              script.parameter(weight_), fmt::arg("s", shape_.stride),
                              fmt::arg("p", shape_.padding)));
  }
  void add_operations(std::span<double> by_parameter) const override {
    const auto out = shape_.out();
    by_parameter[weight_] += 2.0 * double(shape_.kernel * shape_.kernel * shape_.in.channels) *
                             double(out.channels * out.height * out.width);
  }
  bool has_parameters() const override { return true; }

 private:
  std::size_t in() const { return static_cast<std::size_t>(shape_.in.channels); }
  std::size_t out() const { return static_cast<std::size_t>(shape_.out_channels); }
  const float* weights() const { return parameters_.value(weight_).data_ptr<float>(); }
  float* filter() {
    filter_.resize(Winograd::kPlaces * in() * out());
    return filter_.data();
  }

  // With filter_, from the channels that `from` has to `channels`.
  torch::Tensor convolve(const torch::Tensor& from, std::size_t channels, const Pass& pass) const {
    auto to = pass.memory.image(
        {from.size(0), static_cast<std::int64_t>(channels), from.size(2), from.size(3)});
    const auto winograd = method(from, static_cast<std::size_t>(from.size(1)), channels);
    const float* values = from.data_ptr<float>();
    float* results = to.data_ptr<float>();
    at::parallel_for(0, static_cast<std::int64_t>(winograd.chunks()), 1, [&](auto begin, auto end) {
      for (auto chunk = begin; chunk < end; ++chunk) {
        winograd.convolve(static_cast<std::size_t>(chunk), values, filter_.data(), results,
                          scratch());
      }
    });
    return to;
  }

  // Chunks are added up in groups whose number depends on the batch alone, so that the sum is the
  // same however many threads there are.
  void set_weight_gradient(const torch::Tensor& dy) {
    constexpr std::size_t kChunksOfGroup = 32;
    const auto winograd = method(dy, in(), out());
    const std::size_t chunks = winograd.chunks(), size = Winograd::kPlaces * in() * out();
    const std::size_t groups = (chunks + kChunksOfGroup - 1) / kChunksOfGroup;
    filter_.assign(groups * size, 0.0f);
    const float *values = x_.data_ptr<float>(), *gradients = dy.data_ptr<float>();
    at::parallel_for(0, static_cast<std::int64_t>(groups), 1, [&](auto begin, auto end) {
      for (auto group = static_cast<std::size_t>(begin); group < static_cast<std::size_t>(end);
           ++group) {
        const std::size_t last = std::min(chunks, (group + 1) * kChunksOfGroup);
        for (std::size_t chunk = group * kChunksOfGroup; chunk < last; ++chunk) {
          winograd.add_filter_gradient(chunk, values, gradients, filter_.data() + group * size,
                                       scratch());
        }
      }
    });
    for (std::size_t i = size; i < groups * size; ++i) filter_[i % size] += filter_[i];
    Winograd::finish_filter_gradient(in(), out(), filter_.data(),
                                     parameters_.gradient_values(weight_).data());
  }

  static Winograd method(const torch::Tensor& image, std::size_t from, std::size_t to) {
    return {static_cast<std::size_t>(image.size(0)), static_cast<std::size_t>(image.size(2)),
            static_cast<std::size_t>(image.size(3)), from, to};
  }
  // Kept from call to call: fresh memory would cost more than the transforms.
  static Winograd::Scratch& scratch() {
    thread_local Winograd::Scratch memory;
    return memory;
  }

  std::tuple<torch::Tensor, torch::Tensor, torch::Tensor> derive(const torch::Tensor& dy,
                                                                 std::array<bool, 3> which) const {
    return at::convolution_backward(
        dy, x_, parameters_.value(weight_), {}, {shape_.stride, shape_.stride},
        {shape_.padding, shape_.padding}, {1, 1}, false, {0, 0}, 1, which);
  }

  ConvolutionShape shape_;
  std::size_t weight_;
  bool by_winograd_ = false;
  AlignedVector<float> filter_;  // transformed, or the sums of its gradient
  torch::Tensor x_;
};

}  // namespace

ImageShape ConvolutionShape::out() const {
  const auto extent = [&](std::int64_t size) { return (size + 2 * padding - kernel) / stride + 1; };
  return {out_channels, extent(in.height), extent(in.width)};
}

LayerPointer make_convolution(ParameterStore& parameters, const std::string& name,
                              const ConvolutionShape& shape, Initial initial) {
  return std::make_unique<Convolution>(parameters, name, shape, initial);
}

}  // namespace lockstep
