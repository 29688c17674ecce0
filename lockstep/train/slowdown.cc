#include "lockstep/train/slowdown.h"

#include <charconv>
#include <cmath>

#include "lockstep/base/error.h"
#include "lockstep/base/random.h"
#include "lockstep/base/text.h"

namespace lockstep {
namespace {

template <typename T>
bool parse_all(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

}  // namespace

Slowdown::Slowdown(const Options& cluster, int workers, std::uint64_t seed)
    : jitter_(cluster.real("jitter")), seed_(seed) {
  for (std::string entry : cluster.texts("slow")) {
    std::erase_if(entry, [](char c) { return c == '{' || c == '}' || c == ' '; });
    const auto equals = entry.find('=');
    int worker = -1;
    double factor = 0;
    if (equals == std::string::npos || !parse_all(entry.substr(0, equals), worker) ||
        !parse_all(entry.substr(equals + 1), factor) || !(factor >= 1 && factor <= 1e6)) {
      throw ConfigError(
          "[cluster] slow has \"{}\"; write worker = factor, the factor from 1 to a million, such "
          "as {{3 = 2.0}}",
          entry);
    }
    if (worker < 0 || worker >= workers) {
      throw ConfigError("[cluster] slow names worker {}, but workers are 0 … {}", worker,
                        workers - 1);
    }
    if (!slow_.emplace(worker, factor).second) {
      throw ConfigError("[cluster] slow names worker {} twice", worker);
    }
  }
}

double Slowdown::factor(int worker, std::int64_t step) const {
  const auto slow = slow_.find(worker);
  double factor = slow == slow_.end() ? 1 : slow->second;
  if (jitter_ > 0) {
    Random random(seed_, "jitter", static_cast<std::uint64_t>(worker),
                  static_cast<std::uint64_t>(step));
    factor *= std::exp(jitter_ * random.normal());
  }
  return factor;
}

}  // namespace lockstep
