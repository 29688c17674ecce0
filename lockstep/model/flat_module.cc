#include "lockstep/model/flat_module.h"

#include <algorithm>
#include <cstring>

#include "lockstep/base/error.h"

namespace lockstep {
namespace {

class LayerHook : public torch::autograd::FunctionPostHook {
 public:
  explicit LayerHook(std::function<void()> done) : done_(std::move(done)) {}
  torch::autograd::variable_list operator()(const torch::autograd::variable_list& outputs,
                                            const torch::autograd::variable_list&) override {
    done_();
    return outputs;
  }

 private:
  std::function<void()> done_;
};

bool is_float(const torch::Tensor& tensor) {
  return tensor.scalar_type() == torch::kFloat && tensor.layout() == torch::kStrided;
}

// By torch's names: "conv1.bias", "lstm.bias_ih_l0", and 1-dimensional weights are scales of a
// normalisation, whose shifts are its biases.
LayerKind kind_of(const NamedTensor& parameter, const std::vector<NamedTensor>& all) {
  const auto dot = parameter.name.rfind('.') + 1;  // 0 if there is none
  if (!parameter.name.substr(dot).starts_with("bias")) {
    return parameter.tensor.dim() > 1 ? LayerKind::kWeight : LayerKind::kNorm;
  }
  const std::string sibling = parameter.name.substr(0, dot) + "weight";
  const auto weight = std::ranges::find(all, sibling, &NamedTensor::name);
  return weight != all.end() && weight->tensor.dim() <= 1 ? LayerKind::kNorm : LayerKind::kBias;
}

}  // namespace

FlatModule::FlatModule(TrainableModule module, bool computes_with_copies, LayerDone done)
    : module_(std::move(module)) {
  declare_parameters();
  declare_buffers();
  flat_.allocate();
  if (computes_with_copies) copies_.resize(flat_.params().size());
  attach_parameters(done);
  keep_buffers_flat();
}

void FlatModule::declare_parameters() {
  for (const auto& parameter : module_.parameters) {
    const auto& [name, tensor] = parameter;
    const bool seen = std::ranges::any_of(
        trained_, [&](const torch::Tensor& other) { return other.is_same(tensor); });
    if (!tensor.requires_grad() || seen) continue;  // frozen, or shared by two layers
    if (!is_float(tensor)) {
      throw ConfigError("parameter {} of {} is of type {}: only 32-bit floats can be trained", name,
                        module_.title, c10::toString(tensor.scalar_type()));
    }
    trained_.push_back(tensor);
    flat_.declare_parameter(name, tensor.sizes().vec(), kind_of(parameter, module_.parameters));
  }
  if (flat_.layers().empty()) {
    throw ConfigError("{} has no parameters that could be trained", module_.title);
  }
}

void FlatModule::declare_buffers() {
  const auto buffers = module_.buffers();
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const auto& [name, tensor] = buffers[i];
    if (is_float(tensor)) flat_.declare_buffer(name, tensor.sizes().vec());
    (is_float(tensor) ? float_buffers_ : other_buffers_).push_back(i);
  }
}

void FlatModule::attach_parameters(const LayerDone& done) {
  for (std::size_t i = 0; i < trained_.size(); ++i) {
    const auto& layer = flat_.layers()[i];
    flat_.parameter(i).copy_(trained_[i].detach());
    trained_[i].set_data(copies_.empty()
                             ? flat_.parameter(i)
                             : torch::from_blob(copies_.data() + layer.offset, layer.shape));
    trained_[i].mutable_grad() = flat_.gradient(i);
    accumulators_.push_back(torch::autograd::impl::grad_accumulator(trained_[i]));
    accumulators_.back()->add_post_hook(std::make_unique<LayerHook>([done, i] { done(i); }));
  }
}

bool FlatModule::has_batch_norm() const {
  return std::ranges::any_of(flat_.buffer_layers(), [](const Layer& buffer) {
    return buffer.name.ends_with("running_mean");
  });
}

void FlatModule::check_gradients() const {
  for (std::size_t i = 0; i < trained_.size(); ++i) {
    LOCKSTEP_CHECK(trained_[i].grad().is_same(flat_.gradient(i)),
                   "the gradient of {} left its place", flat_.layers()[i].name);
  }
}

void FlatModule::keep_buffers_flat() {
  if (float_buffers_.empty()) return;
  const auto buffers = module_.buffers();
  for (std::size_t i = 0; i < float_buffers_.size(); ++i) {
    auto current = buffers[float_buffers_[i]].tensor;
    const auto view = flat_.buffer(i);
    if (current.data_ptr() == view.data_ptr()) continue;
    view.copy_(current.detach());
    current.set_data(view);
  }
}

void FlatModule::state(StateVisitor& visitor) {
  if (other_buffers_.empty()) return;
  const auto buffers = module_.buffers();
  for (const std::size_t place : other_buffers_) {
    const auto& [name, tensor] = buffers[place];
    const auto copy = tensor.detach().clone(torch::MemoryFormat::Contiguous);
    std::vector<std::byte> bytes(copy.nbytes());
    if (!bytes.empty()) std::memcpy(bytes.data(), copy.data_ptr(), bytes.size());
    visitor.bytes("buffer." + name, bytes);
    if (bytes.size() != copy.nbytes()) {
      throw DataError("the stored buffer {} of {} has {} bytes, not {}", name, module_.title,
                      bytes.size(), copy.nbytes());
    }
    if (!bytes.empty()) std::memcpy(copy.data_ptr(), bytes.data(), bytes.size());
    tensor.detach().copy_(copy);
  }
}

}  // namespace lockstep
