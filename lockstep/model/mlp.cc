// Multilayer perceptron: linear layers with ReLU between them.
#include <cmath>

#include "lockstep/model/chain_replica.h"

namespace lockstep {
namespace {

OptionSet options() {
  OptionSet set;
  set.reals("widths", {256, 128}, "neurons of each hidden layer").at_least(1);
  set.real("dropout", 0, "share of the hidden neurons that fall out while training")
      .at_least(0)
      .at_most(0.95);
  return set;
}

std::vector<std::int64_t> whole_widths(const std::vector<double>& values) {
  std::vector<std::int64_t> widths;
  for (const double value : values) {
    if (value != std::floor(value) || value < 1 || value > 1e6) {
      throw ConfigError("model \"mlp\": widths must be whole numbers from 1 to 1000000, not {}",
                        value);
    }
    widths.push_back(static_cast<std::int64_t>(value));
  }
  return widths;
}

const Registration<ModelKind> kMlp{
    "mlp", "Multilayer perceptron with ReLU and dropout.", options(), [](const Options& values) {
      const auto widths = whole_widths(values.reals("widths"));
      const double dropout = values.real("dropout");
      return std::make_unique<ChainKind>("mlp", [widths, dropout](ChainBuilder& chain) {
        chain.flatten();
        for (std::size_t i = 0; i < widths.size(); ++i) {
          const auto name = "hidden" + std::to_string(i + 1);
          chain.linear(name, widths[i], true).dropout(name, dropout);
        }
        return chain.classifier("classifier");
      });
    }};

}  // namespace
}  // namespace lockstep
