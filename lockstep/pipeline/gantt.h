// What every device does when, as an SVG picture; messages run below their device's row.
#pragma once

#include <string>

#include "lockstep/pipeline/operator_placement.h"

namespace lockstep {

std::string gantt_svg(const OperatorGraph& graph, const Devices& devices,
                      const PlacementTimes& times);

}  // namespace lockstep
