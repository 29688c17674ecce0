#include "lockstep/model/replica.h"

#include "lockstep/base/error.h"

namespace lockstep {

void Replica::predict(const Batch&, std::span<float>) {
  throw ConfigError(
      "this model gives no scores that another one could learn from: it cannot be a teacher "
      "([sync] name = \"codistillation\"); use another [model] or another [sync]");
}

std::unique_ptr<Stage> ModelKind::make_stage(const ModelSettings&, Range) const {
  throw ConfigError("this model cannot be cut into stages");
}

template <>
Registry<ModelKind>& Registry<ModelKind>::instance() {
  static Registry<ModelKind> registry("model", "model");
  return registry;
}

}  // namespace lockstep
