#include "lockstep/model/torchscript_file.h"

#include <torch/csrc/jit/passes/inliner.h>

#include <array>
#include <filesystem>

#include "lockstep/base/error.h"
#include "lockstep/model/torch_error.h"
#include "lockstep/model/zip_check.h"

namespace lockstep {
namespace {

constexpr std::array kRandom{"dropout",       "feature_dropout",
                             "alpha_dropout", "feature_alpha_dropout",
                             "bernoulli",     "rand",
                             "randn",         "rand_like",
                             "randn_like",    "randint",
                             "randperm",      "normal",
                             "multinomial",   "rrelu"};

void inspect(const torch::jit::Block& block, ScriptTraits& traits) {
  for (const auto* node : block.nodes()) {
    std::string name = node->kind().toUnqualString();
    if (name.ends_with('_')) name.pop_back();  // in place
    traits.batch_norm |= name == "batch_norm";
    traits.random_draws |= std::ranges::find(kRandom, name) != kRandom.end();
    for (const auto* inner : node->blocks()) inspect(*inner, traits);
  }
}

}  // namespace

torch::jit::Module load_torchscript(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    throw DataError("{}: there is no such file", path);
  }
  check_zip(path);  // torch's reader trusts what it reads and may crash on it
  try {
    auto module = torch::jit::load(path, torch::kCPU);
    if (!module.find_method("forward")) {
      throw DataError("{}: the module has no method forward", path);
    }
    return module;
  } catch (const Error&) {
    throw;
  } catch (const std::exception& failure) {
    throw DataError("{}: no TorchScript module (torch.jit.save writes them): {}", path,
                    short_reason(failure));
  }
}

ScriptTraits inspect(const torch::jit::Module& module) {
  ScriptTraits traits;
  const auto graph = module.get_method("forward").graph()->copy();
  torch::jit::Inline(*graph);
  inspect(*graph->block(), traits);
  return traits;
}

}  // namespace lockstep
