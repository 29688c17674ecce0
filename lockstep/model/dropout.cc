// Dropout (Srivastava et al. 2014), scaled while training so that evaluation need not. What falls
// out depends on seed, layer, sample and step alone: not on how samples are dealt to workers.
#include <fmt/format.h>

#include <cmath>

#include "lockstep/base/random.h"
#include "lockstep/model/layers.h"

namespace lockstep {
namespace {

class Dropout : public LayerOp {
 public:
  Dropout(ParameterStore& parameters, const std::string& name, double probability)
      : LayerOp(parameters), purpose_("dropout " + name), probability_(probability) {}

  torch::Tensor apply(const torch::Tensor& x, const Pass& pass) override {
    if (!pass.training) return x;
    mask_ = at::empty_like(x);
    const auto values = static_cast<std::size_t>(x.numel() / x.size(0));
    const auto kept = static_cast<float>(1 / (1 - probability_));
    const auto threshold = static_cast<std::uint64_t>(std::ldexp(probability_, 32));
    float* mask = mask_.data_ptr<float>();
    for (const SampleId id : pass.batch.ids) {
      Random random(pass.seed, purpose_, id, static_cast<std::uint64_t>(pass.batch.step));
      std::uint64_t bits = 0;
      for (std::size_t i = 0; i < values; ++i) {  // a number decides about two values
        bits = i % 2 == 0 ? random.next() : bits >> 32;
        *mask++ = (bits & 0xffffffffu) < threshold ? 0.0f : kept;
      }
    }
    return x * mask_;
  }
  torch::Tensor differentiate(const torch::Tensor& dy, const Pass&) override {
    auto dx = dy * mask_;
    mask_.reset();
    return dx;
  }
  void emit(ScriptWriter& script) const override {
    script.assign(fmt::format("torch.dropout(x, {}, self.training)", probability_));
  }

 private:
  std::string purpose_;
  double probability_;
  torch::Tensor mask_;
};

}  // namespace

LayerPointer make_dropout(ParameterStore& parameters, const std::string& name, double probability) {
  return std::make_unique<Dropout>(parameters, name, probability);
}

}  // namespace lockstep
