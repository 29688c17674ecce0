// What `lockstep bench allreduce` prints.
#pragma once

#include <string>
#include <vector>

#include "lockstep/base/json_lines.h"
#include "lockstep/collective/measure.h"

namespace lockstep {

struct AllReduceResult {
  std::string algorithm;
  int ranks = 0;
  std::size_t bytes = 0;
  Timing timing;
};
using AllReduceResults = std::vector<AllReduceResult>;

// Median, spread and bandwidth of every algorithm, a table for each number of ranks and size.
std::string details(const AllReduceResults& results);
// Algorithms against sizes, a table for each number of ranks.
std::string comparison(const AllReduceResults& results);
Json to_json(const std::string& world, const AllReduceResult& result);

}  // namespace lockstep
