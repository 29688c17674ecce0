#include "lockstep/train/link.h"

#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/text.h"
#include "lockstep/collective/measure.h"

namespace lockstep {
namespace {

std::string format_rate(double bytes_a_second) {
  const double bits = 8 * bytes_a_second;
  if (bits >= 1e9) return fmt::format("{:.3g} Gbit/s", bits / 1e9);
  return fmt::format("{:.3g} Mbit/s", bits / 1e6);
}

}  // namespace

Link measure_link(Group& group, const AllReduce& all_reduce) {
  const AverageTime time = measure_average(group, all_reduce);
  constexpr std::size_t kFloats = 64 * 1024;
  const Cost cost = all_reduce.cost(group.size(), kFloats);
  const double sent_of_a_byte = static_cast<double>(cost.bytes_most) / (kFloats * sizeof(float));
  return {time.alpha / std::max(1, cost.steps), sent_of_a_byte / time.beta};
}

std::string compression_line(const std::string& compressors,
                             const std::vector<WorkerLedger>& ledgers, const Link& link) {
  const WorkerLedger all = sum_of(ledgers);
  if (all.steps == 0 || all.sent == 0 || link.rate <= 0) return "";
  const double rest = (all.computing + all.waiting) / all.steps;
  // What a companion does takes no time of a step, and as much of it as now would be hidden.
  const double coding = all.encoding + all.decoding - all.beside;
  const double seen = all.hidden > 0 ? all.communicating / (all.communicating + all.hidden) : 1;
  const double now = rest + (all.communicating + coding) / all.steps;
  const double plain =
      rest + seen * (all.plain / link.rate + all.rounds * link.latency) / all.steps;
  return fmt::format(
      "compression {} sent {:.1f} times less; a step took {}, by the measured link ({}) it would "
      "have taken {} uncompressed{}",
      compressors, all.plain / all.sent, trim(format_seconds(now)), format_rate(link.rate),
      trim(format_seconds(plain)), plain < now ? ": here it does not pay" : "");
}

}  // namespace lockstep
