#include "apps/data_get.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iostream>
#include <memory>

#include "apps/data_download.h"
#include "lockstep/base/text.h"
#include "lockstep/data/dataset.h"

namespace lockstep {
namespace {

// Whether every file is there and intact; says which one is not.
bool intact(const Published& published) {
  if (!std::filesystem::exists(published.folder())) return false;
  try {
    for (const auto& file : published.files) read_published(published, file, published.folder());
    return true;
  } catch (const DataError& e) {
    std::cerr << e.what() << "\n";
    return false;
  }
}

void get(const std::string& name) {
  const auto& registry = Registry<DatasetSource>::instance();
  const auto source = registry.make(name);
  const Published* published = source->published();
  if (published == nullptr) {
    std::vector<std::string> names;
    for (const auto& other : registry.names()) {
      if (registry.make(other)->published() != nullptr) names.push_back(other);
    }
    throw ConfigError("data set \"{}\" needs no download; to be got: {}", name,
                      fmt::join(names, ", "));
  }
  const bool had = intact(*published);
  if (!had) download(*published);
  std::cout << fmt::format("{} {} in {}: {}, every checksum right\n", name,
                           had ? "is already" : "is", published->folder().string(),
                           format_size(published->bytes()));
}

}  // namespace

void add_data_get(CLI::App& data) {
  const auto name = std::make_shared<std::string>();
  auto* command = data.add_subcommand("get", "Get a data set that others publish");
  command->add_option("name", *name, "Which, such as mnist")->required();
  command->callback([name] { get(*name); });
}

}  // namespace lockstep
