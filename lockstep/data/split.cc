#include "lockstep/data/split.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lockstep/base/error.h"
#include "lockstep/base/random.h"

namespace lockstep {

Split split(const Dataset& dataset, double validation, bool shuffled, std::uint64_t seed) {
  if (!(validation >= 0 && validation < 1)) {
    throw ConfigError(
        "validation = {}: the share of the samples kept for validation must be at "
        "least 0 and below 1",
        validation);
  }
  const std::size_t usable = std::min(dataset.first_test, dataset.samples);
  const auto kept =
      static_cast<std::size_t>(std::llround(validation * static_cast<double>(usable)));
  if (kept >= usable) {
    throw DataError("data set {} has {} samples, and {} of them for validation leave none to train",
                    dataset.name, usable, kept);
  }
  std::vector<SampleId> order(usable);
  std::iota(order.begin(), order.end(), SampleId{0});
  if (shuffled) Random(seed, "split").shuffle(std::span(order));

  const auto border = order.begin() + static_cast<std::ptrdiff_t>(usable - kept);
  Split result;
  result.train.assign(order.begin(), border);
  result.validation.assign(border, order.end());
  std::sort(result.train.begin(), result.train.end());
  std::sort(result.validation.begin(), result.validation.end());
  result.test.resize(dataset.samples - usable);
  std::iota(result.test.begin(), result.test.end(), static_cast<SampleId>(usable));
  return result;
}

}  // namespace lockstep
