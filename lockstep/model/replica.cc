#include "lockstep/model/replica.h"

namespace lockstep {

template <>
Registry<ModelKind>& Registry<ModelKind>::instance() {
  static Registry<ModelKind> registry("model", "model");
  return registry;
}

}  // namespace lockstep
