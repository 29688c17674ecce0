#include "lockstep/model/lstm_script.h"

#include <fmt/format.h>
#include <torch/script.h>

#include <map>

#include "lockstep/model/whole_file.h"

namespace lockstep {
namespace {

std::string forward_source(const LstmShape& shape, const std::vector<NamedTensor>& parameters) {
  std::string sequence = "x", weights;
  if (shape.tokens) sequence = "torch.embedding(self.embedding.weight, x)";
  if (shape.image) sequence = "torch.flatten(torch.permute(x, [0, 2, 3, 1]), 2)";
  for (const auto& [name, tensor] : parameters) {
    if (name.starts_with("lstm.")) weights += (weights.empty() ? "self." : ", self.") + name;
  }
  return fmt::format(R"(
def forward(self, x):
    sequence = {}
    state = torch.zeros([{}, x.size(0), {}])
    states, h, c = torch.lstm(sequence, [state, state], [{}], True, {}, 0.0, False, False, True)
    return torch.linear({}, self.head.weight, self.head.bias)
)",
                     sequence, shape.layers, shape.hidden, weights, shape.layers,
                     shape.tokens ? "states" : "torch.select(states, 1, -1)");
}

}  // namespace

void save_lstm(const std::string& path, const LstmShape& shape,
               const std::vector<NamedTensor>& parameters) {
  const auto unit = std::make_shared<torch::jit::CompilationUnit>();
  torch::jit::Module whole("__torch__.Lstm", unit);
  std::map<std::string, torch::jit::Module> parts;
  for (const auto& [name, tensor] : parameters) {
    const auto dot = name.find('.');
    const std::string part = name.substr(0, dot);
    auto& module = parts.try_emplace(part, "__torch__." + part, unit).first->second;
    module.register_parameter(name.substr(dot + 1), tensor.detach().clone(), false);
  }
  for (const auto& [name, module] : parts) whole.register_module(name, module);
  whole.define(forward_source(shape, parameters));
  save_whole(path, [&](const std::string& part) { whole.save(part); });
}

}  // namespace lockstep
