// The choices a sampler has. They are options of every assignment: `shuffle`, `replacement`,
// `scope`.
#pragma once

#include "lockstep/assign/assignment.h"

namespace lockstep {

enum class Shuffle { kEpoch, kOnce, kNone };
enum class Scope { kLocal, kGlobal };

struct Sampling {
  Shuffle shuffle = Shuffle::kEpoch;
  bool replacement = false;
  Scope scope = Scope::kLocal;

  bool shuffled() const { return shuffle != Shuffle::kNone; }  // what Assignment::assign asks
  // Throws a ConfigError if the choices contradict each other.
  static Sampling from(const Options& options);
};

}  // namespace lockstep
