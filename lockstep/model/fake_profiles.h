// The layers of well-known networks: their sizes and how much arithmetic each needs for a sample,
// worked out from the architecture. No weights, no mathematics.
#pragma once

#include <string>
#include <vector>

#include "lockstep/base/layer.h"

namespace lockstep {

struct ProfiledLayer {
  Layer layer;
  double forward_flops = 0;  // of a sample; backward takes twice as much
};

std::vector<std::string> profile_names();
// Layers in forward order. `name` is one of profile_names().
std::vector<ProfiledLayer> profile(const std::string& name);

}  // namespace lockstep
