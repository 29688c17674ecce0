#include "lockstep/train/link.h"

#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/text.h"
#include "lockstep/collective/measure.h"

namespace lockstep {
namespace {

// Two sizes: one that is all latency, and one that fills the network but takes no second on a slow
// one.
constexpr std::size_t kSmall = 64, kLarge = 64 * 1024;  // floats
constexpr int kRepeats = 3;

std::string format_rate(double bytes_a_second) {
  const double bits = 8 * bytes_a_second;
  if (bits >= 1e9) return fmt::format("{:.3g} Gbit/s", bits / 1e9);
  return fmt::format("{:.3g} Mbit/s", bits / 1e6);
}

}  // namespace

Link measure_link(Group& group, const AllReduce& all_reduce) {
  const auto seconds = [&](std::size_t n) {
    return summarise(time_all_reduce(group, all_reduce, n, ReduceOp::kMean, kRepeats)).median;
  };
  const auto bytes = [&](std::size_t n) {
    return static_cast<double>(all_reduce.cost(group.size(), n).bytes_most);
  };
  const double small = seconds(kSmall), large = seconds(kLarge);
  const int rounds = std::max(1, all_reduce.cost(group.size(), kLarge).steps);
  return {small / rounds, (bytes(kLarge) - bytes(kSmall)) / std::max(large - small, 1e-9)};
}

std::string compression_line(const std::string& compressors,
                             const std::vector<WorkerLedger>& ledgers, const Link& link) {
  WorkerLedger all;  // of all workers together
  for (const WorkerLedger& one : ledgers) {
    all.steps += one.steps;
    all.computing += one.computing;
    all.waiting += one.waiting;
    all.communicating += one.communicating;
    all.encoding += one.encoding;
    all.decoding += one.decoding;
    all.sent += one.sent;
    all.plain += one.plain;
    all.rounds += one.rounds;
    all.hidden += one.hidden;
  }
  if (all.steps == 0 || all.sent == 0 || link.rate <= 0) return "";
  const double rest = (all.computing + all.waiting) / all.steps;
  // What a companion does takes no time of a step, and as much of it as now would be hidden.
  const double coding = all.hidden > 0 ? 0 : all.encoding + all.decoding;
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
