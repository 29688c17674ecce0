// The library's door for a user's own network: any torch::nn::Module with a forward from tensor to
// tensor becomes a model that is trained like Lockstep's own.
//
//   struct Net : torch::nn::Module { torch::Tensor forward(torch::Tensor x); … };
//   auto model = lockstep::model_from([] { return std::make_shared<Net>(); });
//   auto replica = model->make(settings);
//
// `make` is called once a worker, on the worker's own thread (of a model in stages more often).
// Modules draw their initial weights from torch's generator, which the threads share: the workers'
// weights differ until rank 0's are broadcast, which training does before its first step.
//
// A torch::nn::Sequential can also be cut into the stages of a pipeline, between its children: each
// worker makes all of it, and keeps its own part.
#pragma once

#include <torch/torch.h>

#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "lockstep/model/module_replica.h"
#include "lockstep/model/sequential_stage.h"

namespace lockstep {

struct UserModelTraits {
  // May several workers be computed as one large batch? Only if a sample's scores and gradient
  // depend on nothing but the sample: no batch norm, no dropout.
  bool mergeable = false;
};

namespace detail {

// Everything but forward, which has no common type. Saves with torch::save, of which Python gets
// the weights: net.load_state_dict(torch.jit.load("model.pt").state_dict()).
TrainableModule trainable(std::shared_ptr<torch::nn::Module> module);

// Of a module, or of torch's holder of one.
template <typename Module>
std::shared_ptr<Module> pointer_to(std::shared_ptr<Module> module) {
  return module;
}
template <typename Module>
std::shared_ptr<Module> pointer_to(const torch::nn::ModuleHolder<Module>& holder) {
  return holder.ptr();
}

template <typename Make>
class UserModel : public ModelKind {
 public:
  UserModel(Make make, UserModelTraits traits) : make_(std::move(make)), traits_(traits) {}

  std::unique_ptr<Replica> make(const ModelSettings& settings) const override {
    const auto module = pointer_to(make_());
    auto described = trainable(module);
    described.forward = [module](const torch::Tensor& input) { return module->forward(input); };
    return std::make_unique<ModuleReplica>(std::move(described), settings);
  }
  bool mergeable() const override { return traits_.mergeable; }

  std::vector<ModelUnit> units(const ModelSettings& settings) const override {
    if constexpr (kSequential) return sequential_units(*pointer_to(make_()), settings);
    return {};
  }
  std::unique_ptr<Stage> make_stage(const ModelSettings& settings, Range units) const override {
    if constexpr (kSequential) return sequential_stage(*pointer_to(make_()), settings, units);
    return ModelKind::make_stage(settings, units);
  }

 private:
  static constexpr bool kSequential =
      std::is_same_v<torch::nn::SequentialImpl,  // not of another class, with a forward of its own
                     std::remove_cvref_t<decltype(*pointer_to(std::declval<const Make&>()()))>>;

  Make make_;
  UserModelTraits traits_;
};

}  // namespace detail

template <typename Make>
std::unique_ptr<ModelKind> model_from(Make make, UserModelTraits traits = {}) {
  return std::make_unique<detail::UserModel<Make>>(std::move(make), traits);
}

}  // namespace lockstep
