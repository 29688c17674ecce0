#include "lockstep/base/random.h"

#include <Random123/philox.h>

#include <cmath>
#include <numbers>

#include "lockstep/base/error.h"
#include "lockstep/base/text.h"

namespace lockstep {

Random::Random(std::uint64_t seed, std::string_view purpose, std::uint64_t worker,
               std::uint64_t step)
    : key_{seed, stable_hash(purpose)}, counter_{0, worker, step, 0} {}

std::uint64_t Random::next() {
  if (left_ == 0) {
    const auto block = r123::Philox4x64{}({{counter_[0], counter_[1], counter_[2], counter_[3]}},
                                          {{key_[0], key_[1]}});
    for (std::size_t i = 0; i < 4; ++i) block_[i] = block[i];
    ++counter_[0];
    left_ = 4;
  }
  return block_[static_cast<std::size_t>(4 - left_--)];
}

double Random::uniform() {
  return static_cast<double>(next() >> 11) * 0x1.0p-53;
}

double Random::uniform(double low, double high) {
  const double value = low + (high - low) * uniform();
  return value < high ? value : std::nextafter(high, low);  // the sum may have rounded up
}

std::uint64_t Random::below(std::uint64_t bound) {
  LOCKSTEP_CHECK(bound > 0, "below(0)");
  // Numbers under 2^64 mod bound would make small results likelier; draw again.
  const std::uint64_t reject = (0 - bound) % bound;
  while (true) {
    const std::uint64_t draw = next();
    if (draw >= reject) return draw % bound;
  }
}

double Random::normal() {
  // Box–Muller; 1 − u keeps the logarithm away from zero.
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

double Random::exponential(double mean) {
  return -mean * std::log(1 - uniform());
}

}  // namespace lockstep
