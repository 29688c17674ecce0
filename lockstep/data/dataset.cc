#include "lockstep/data/dataset.h"

#include <cstdlib>

namespace lockstep {

template <>
Registry<DatasetSource>& Registry<DatasetSource>::instance() {
  static Registry<DatasetSource> registry("data", "data set");
  return registry;
}

void keep_first(std::size_t count, Dataset& dataset) {
  if (count == 0) return;
  const std::size_t before = dataset.first_test;
  if (count > before) {
    throw ConfigError("data.samples = {}: {} has {} samples to train on", count, dataset.name,
                      before);
  }
  const auto first = static_cast<std::ptrdiff_t>(count), test = static_cast<std::ptrdiff_t>(before);
  const auto each = static_cast<std::ptrdiff_t>(dataset.shape.values());
  std::visit(
      [&](auto& values) {
        const auto begin = values.begin();
        std::remove_reference_t<decltype(values)> kept(begin, begin + first * each);
        kept.insert(kept.end(), begin + test * each, values.end());
        values = std::move(kept);  // the memory of the others goes back
      },
      dataset.values);
  dataset.labels.erase(dataset.labels.begin() + first, dataset.labels.begin() + test);
  dataset.samples -= before - count;
  dataset.first_test = count;
}

std::filesystem::path data_folder() {
  if (const char* folder = std::getenv("LOCKSTEP_DATA"); folder != nullptr && *folder != '\0') {
    return folder;
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') {
    return std::filesystem::path(home) / ".cache" / "lockstep";
  }
  throw ConfigError("neither LOCKSTEP_DATA nor HOME is set: where should data sets be kept?");
}

}  // namespace lockstep
