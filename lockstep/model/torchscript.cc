// A module that Python exported (torch.jit.script or trace, torch.jit.save), trained here. It keeps
// the weights it came with, and leaves as it came: a file for torch.jit.load.
//
// The interpreter runs the graph as it was exported. Torch's optimizer would rewrite it after the
// first passes, with other roundings and another order of layers from then on: a run that goes on
// from a checkpoint would not repeat the one that was never stopped.
#include <torch/csrc/jit/runtime/graph_executor.h>

#include "lockstep/base/error.h"
#include "lockstep/model/module_replica.h"
#include "lockstep/model/torchscript_file.h"
#include "lockstep/model/whole_file.h"

namespace lockstep {
namespace {

template <typename List>
std::vector<NamedTensor> named(const List& list) {
  std::vector<NamedTensor> tensors;
  for (const auto& item : list) tensors.push_back({item.name, item.value});
  return tensors;
}

class TorchScript : public ModelKind {
 public:
  explicit TorchScript(std::string path)
      : path_(std::move(path)), module_(load(path_)), traits_(inspect(module_)) {}

  std::unique_ptr<Replica> make(const ModelSettings& settings) const override {
    auto module = copy();
    TrainableModule described;
    described.title = "the TorchScript module " + path_;
    described.parameters = named(module.named_parameters());
    described.buffers = [module] { return named(module.named_buffers()); };
    described.forward = [module](const torch::Tensor& input) mutable {
      const torch::jit::GraphOptimizerEnabledGuard as_exported(false);
      const auto output = module.forward({input});
      return output.isTensor() ? output.toTensor() : torch::Tensor();
    };
    described.set_training = [module](bool training) mutable { module.train(training); };
    described.save = [module](const std::string& path) {
      save_whole(path, [&](const std::string& part) { module.save(part); });
    };
    described.draws_random_numbers = traits_.random_draws;
    if (traits_.random_draws) {
      described.remarks.push_back(described.title +
                                  " draws random numbers (dropout) from torch's generator, which "
                                  "the workers of a process share: with several of them runs do "
                                  "not repeat");
    }
    return std::make_unique<ModuleReplica>(std::move(described), settings);
  }
  bool mergeable() const override { return !traits_.batch_norm && !traits_.random_draws; }

 private:
  static torch::jit::Module load(const std::string& path) {
    if (path.empty()) {
      throw ConfigError(
          "model \"torchscript\" needs the option file: a module that Python wrote "
          "with torch.jit.save");
    }
    return load_torchscript(path);
  }

  // Shares the code, not the tensors. Copying is no operation to be differentiated, so torch
  // forgets which of them require a gradient.
  torch::jit::Module copy() const {
    const torch::NoGradGuard no_grad;
    auto module = module_.deepcopy();
    const auto originals = named(module_.named_parameters());
    const auto copies = named(module.named_parameters());
    for (std::size_t i = 0; i < originals.size(); ++i) {
      copies[i].tensor.requires_grad_(originals[i].tensor.requires_grad());
    }
    return module;
  }

  std::string path_;
  torch::jit::Module module_;
  ScriptTraits traits_;
};

OptionSet options() {
  OptionSet set;
  set.text("file", "", "the module, as torch.jit.save wrote it");
  return set;
}

const Registration<ModelKind> kTorchScript{
    "torchscript", "A module exported from Python, trained from the weights it came with.",
    options(),
    [](const Options& values) { return std::make_unique<TorchScript>(values.text("file")); }};

}  // namespace
}  // namespace lockstep
