#include "apps/all_reduce_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "lockstep/base/text.h"

namespace lockstep {
namespace {

using Rows = std::vector<std::vector<std::string>>;

// One unit for all times, so that they can be compared at a glance.
struct Unit {
  const char* name;
  double seconds;
  std::string operator()(double time) const {
    const double count = time / seconds;
    return count < 100 ? fmt::format("{:.1f}", count) : fmt::format("{:.0f}", count);
  }
};

Unit unit_for(const AllReduceResults& results) {
  double longest = 0;
  for (const auto& r : results) longest = std::max(longest, r.timing.median);
  return longest < 1 ? Unit{"µs", 1e-6} : Unit{"ms", 1e-3};
}

double best_median(const AllReduceResults& results, int ranks, std::size_t bytes) {
  double best = 1e300;
  for (const auto& r : results) {
    if (r.ranks == ranks && r.bytes == bytes) best = std::min(best, r.timing.median);
  }
  return best;
}

// In the order in which they first appear.
template <typename T, typename Get>
std::vector<T> distinct(const AllReduceResults& results, Get get) {
  std::vector<T> values;
  for (const auto& r : results) {
    if (std::find(values.begin(), values.end(), get(r)) == values.end()) values.push_back(get(r));
  }
  return values;
}

std::vector<int> all_ranks(const AllReduceResults& results) {
  return distinct<int>(results, [](const auto& r) { return r.ranks; });
}
std::vector<std::size_t> all_sizes(const AllReduceResults& results) {
  return distinct<std::size_t>(results, [](const auto& r) { return r.bytes; });
}

}  // namespace

std::string details(const AllReduceResults& results) {
  const Unit unit = unit_for(results);
  std::string text;
  for (const int ranks : all_ranks(results)) {
    for (const std::size_t bytes : all_sizes(results)) {
      const double best = best_median(results, ranks, bytes);
      Rows rows{{fmt::format("{} ranks, {}", ranks, format_size(bytes)),
                 fmt::format("median {}", unit.name), "p10", "p90", "GB/s", "× best"}};
      for (const auto& r : results) {
        if (r.ranks != ranks || r.bytes != bytes) continue;
        const double median = std::max(r.timing.median, 1e-12);
        const double speed = static_cast<double>(bytes) / median / 1e9;
        rows.push_back({r.algorithm, unit(r.timing.median), unit(r.timing.p10), unit(r.timing.p90),
                        speed < 0.1 ? fmt::format("{:.2g}", speed) : fmt::format("{:.2f}", speed),
                        fmt::format("{:.2f}", median / std::max(best, 1e-12))});
      }
      text += format_table(rows) + "\n";
    }
  }
  return text;
}

std::string comparison(const AllReduceResults& results) {
  const Unit unit = unit_for(results);
  std::string text;
  for (const int ranks : all_ranks(results)) {
    Rows rows{{fmt::format("{} ranks, median {}", ranks, unit.name)}};
    for (const std::size_t bytes : all_sizes(results)) rows[0].push_back(format_size(bytes) + "  ");
    for (const auto& name :
         distinct<std::string>(results, [](const auto& r) { return r.algorithm; })) {
      rows.push_back({name});
      for (const auto& r : results) {
        if (r.ranks != ranks || r.algorithm != name) continue;
        const bool best = r.timing.median == best_median(results, ranks, r.bytes);
        rows.back().push_back(unit(r.timing.median) + (best ? " *" : "  "));
      }
    }
    text += format_table(rows) + "\n";
  }
  return text +
         "* the fastest. Times are the slowest rank's; within a size the algorithms take turns.\n";
}

Json to_json(const std::string& world, const AllReduceResult& r) {
  return {{"world", world},
          {"algorithm", r.algorithm},
          {"ranks", r.ranks},
          {"bytes", r.bytes},
          {"median_us", r.timing.median * 1e6},
          {"p10_us", r.timing.p10 * 1e6},
          {"p90_us", r.timing.p90 * 1e6}};
}

}  // namespace lockstep
