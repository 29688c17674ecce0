// Writes a network as TorchScript: the same parameters and buffers under the same names, and the
// source of forward, which each layer adds its line to. Python's torch.jit.load opens the result.
#pragma once

#include <string>

#include "lockstep/model/flat_parameters.h"

namespace lockstep {

class ScriptWriter {
 public:
  explicit ScriptWriter(const FlatParameters& flat) : flat_(flat) {}

  std::string parameter(std::size_t index) const { return "self." + flat_.layers()[index].name; }
  std::string buffer(std::size_t index) const {
    return "self." + flat_.buffer_layers()[index].name;
  }

  // x = expression; the network's input and output are called x too.
  void assign(const std::string& expression) { line("x = " + expression); }
  void line(const std::string& statement) { source_ += "    " + statement + "\n"; }

  // The module is in evaluation mode when loaded; train() and eval() switch dropout and batch norm.
  void save(const std::string& path) const;

 private:
  const FlatParameters& flat_;
  std::string source_ = "def forward(self, x):\n";
};

}  // namespace lockstep
