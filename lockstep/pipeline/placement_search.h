// Finds a placement: list scheduling (HEFT, Topcuoglu et al. 2002) as a start, then simulated
// annealing over devices and priorities with the simulated time as the cost (cf. Mirhoseini et al.
// 2017, arXiv:1706.04972, who learn placements from measured times), then descent.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "lockstep/pipeline/operator_placement.h"

namespace lockstep {

struct SearchOptions {
  std::size_t steps = 20000;  // placements to try, all starts together
  std::uint64_t seed = 1;
  std::function<void(double share, double makespan)> progress = {};  // now and then
};

// Nothing where memory does not suffice.
std::optional<OperatorPlacement> one_device(const OperatorGraph& graph, const Devices& devices);
std::optional<OperatorPlacement> round_robin(const OperatorGraph& graph, const Devices& devices);
std::optional<OperatorPlacement> list_scheduling(const OperatorGraph& graph,
                                                 const Devices& devices);

// A ConfigError where none was found that fits the memory.
OperatorPlacement search_placement(const OperatorGraph& graph, const Devices& devices,
                                   const SearchOptions& options);

}  // namespace lockstep
