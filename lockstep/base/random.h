// Counter-based random numbers (Philox, Salmon et al. 2011, from Random123): a stream is a pure
// function of seed, purpose, worker and step, so no result depends on thread timing or on how many
// numbers somebody else drew.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

namespace lockstep {

class Random {
 public:
  using result_type = std::uint64_t;

  // `purpose` keeps streams of one seed apart: "shuffle", "dropout", "straggler", …
  Random(std::uint64_t seed, std::string_view purpose, std::uint64_t worker = 0,
         std::uint64_t step = 0);

  std::uint64_t next();
  double uniform();                          // in [0, 1)
  double uniform(double low, double high);   // in [low, high)
  std::uint64_t below(std::uint64_t bound);  // 0 … bound−1, without bias; bound > 0
  double normal();                           // mean 0, deviation 1
  double exponential(double mean);

  template <typename T>
  void shuffle(std::span<T> items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

  // The face of a standard uniform random bit generator.
  std::uint64_t operator()() { return next(); }
  static constexpr std::uint64_t min() { return 0; }
  static constexpr std::uint64_t max() { return ~std::uint64_t{0}; }

 private:
  std::array<std::uint64_t, 2> key_;
  std::array<std::uint64_t, 4> counter_;
  std::array<std::uint64_t, 4> block_{};
  int left_ = 0;  // numbers of block_ not handed out yet
};

}  // namespace lockstep
