#include "apps/assignment_picture.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace lockstep {
namespace {

// worker → a bit a sample
using Bits = std::vector<std::vector<std::uint64_t>>;

Bits bits_of(const Shards& shards, std::size_t samples) {
  Bits bits(shards.of.size(), std::vector<std::uint64_t>((samples + 63) / 64));
  for (std::size_t w = 0; w < shards.of.size(); ++w) {
    for (const SampleId sample : shards.of[w]) {
      bits[w].at(sample / 64) |= std::uint64_t{1} << (sample % 64);
    }
  }
  return bits;
}

bool has(const std::vector<std::uint64_t>& bits, std::size_t sample) {
  return (bits[sample / 64] >> (sample % 64) & 1) != 0;
}

// The samples in the order in which they are drawn.
std::vector<std::size_t> drawing_order(const Bits& bits, const std::vector<std::int64_t>& labels,
                                       Across across) {
  std::vector<std::size_t> order(labels.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (across == Across::kLabel) {
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return labels[a] < labels[b]; });
  } else if (across == Across::kHolders) {
    // Sorted by the last worker first, so that in the end the first one decides.
    for (std::size_t w = bits.size(); w-- > 0;) {
      std::stable_partition(order.begin(), order.end(),
                            [&](std::size_t sample) { return has(bits[w], sample); });
    }
  }
  return order;
}

}  // namespace

Intersections intersections(const Shards& shards, std::size_t samples) {
  const Bits bits = bits_of(shards, samples);
  Intersections common(bits.size(), std::vector<std::size_t>(bits.size()));
  for (std::size_t a = 0; a < bits.size(); ++a) {
    for (std::size_t b = 0; b <= a; ++b) {
      std::size_t count = 0;
      for (std::size_t i = 0; i < bits[a].size(); ++i) {
        count += static_cast<std::size_t>(std::popcount(bits[a][i] & bits[b][i]));
      }
      common[a][b] = common[b][a] = count;
    }
  }
  return common;
}

std::vector<std::string> draw_shards(const Shards& shards, const std::vector<std::int64_t>& labels,
                                     Across across, int columns) {
  constexpr const char* kShades[] = {" ", "░", "▒", "▓", "█"};
  const Bits bits = bits_of(shards, labels.size());
  const auto order = drawing_order(bits, labels, across);
  const std::size_t width = std::min(order.size(), static_cast<std::size_t>(columns));
  std::vector<std::string> lines;
  for (const auto& worker : bits) {
    std::string line;
    for (std::size_t column = 0; column < width; ++column) {
      const std::size_t begin = column * order.size() / width;
      const std::size_t end = (column + 1) * order.size() / width;
      std::size_t held = 0;
      for (std::size_t i = begin; i < end; ++i) held += has(worker, order[i]) ? 1 : 0;
      // Blank and full mean none and all; the three between are thirds.
      const std::size_t size = end - begin;
      const std::size_t shade = held == 0 ? 0 : held == size ? 4 : 1 + held * 3 / size;
      line += kShades[shade];
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace lockstep
