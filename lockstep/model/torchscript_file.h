// TorchScript modules on disk, and what can be seen of them before they run.
#pragma once

#include <torch/script.h>

#include <string>

namespace lockstep {

// Throws a DataError that names the file if it is missing, damaged or no TorchScript.
torch::jit::Module load_torchscript(const std::string& path);

struct ScriptTraits {
  bool batch_norm = false;    // a sample's scores depend on the others of its batch
  bool random_draws = false;  // dropout and the like, from torch's generator
};
// What forward and everything it calls may do.
ScriptTraits inspect(const torch::jit::Module& module);

}  // namespace lockstep
