// `lockstep list [kind]`: everything that is registered, with its sentence and its options.
#include <fmt/format.h>

#include <iostream>
#include <memory>

#include "apps/command.h"
#include "lockstep/base/json_lines.h"
#include "lockstep/base/registry.h"
#include "lockstep/base/text.h"

namespace lockstep {
namespace {

Json describe(const Catalogue& catalogue, const Catalogue::Item& item) {
  Json options = Json::array();
  for (const auto& option : item.options.all()) {
    options.push_back({{"name", option.name()},
                       {"type", option.type()},
                       {"default", to_text(option.fallback())},
                       {"allowed", option.bounds()},
                       {"sentence", option.sentence()}});
  }
  return {{"kind", catalogue.kind()},
          {"name", item.name},
          {"sentence", item.sentence},
          {"options", options}};
}

void print(const Catalogue& catalogue) {
  const bool same = catalogue.kind() == catalogue.title();
  std::cout << catalogue.kind() << (same ? "" : fmt::format(" ({})", catalogue.title())) << "\n";
  std::size_t width = 0;
  for (const auto& name : catalogue.names()) width = std::max(width, name.size());
  for (const auto& item : catalogue.items()) {
    std::cout << fmt::format("  {:<{}}  {}\n", item.name, width, item.sentence);
    for (const auto& option : item.options.all()) {
      const std::string fallback = to_toml(option.fallback());
      const std::string bounds = option.bounds();
      std::cout << fmt::format("  {:<{}}    {} = {}: {}{}\n", "", width, option.name(), fallback,
                               option.sentence(),
                               bounds.empty() ? "" : fmt::format(" ({})", bounds));
    }
  }
}

void list(const std::string& kind, bool json) {
  std::vector<const Catalogue*> chosen;
  std::vector<std::string> kinds;
  for (const Catalogue* catalogue : Catalogue::all()) {
    kinds.push_back(catalogue->kind());
    if (kind.empty() || kind == catalogue->kind()) chosen.push_back(catalogue);
  }
  if (chosen.empty()) throw ConfigError("{}", unknown_name("kind", kind, kinds));
  bool first = true;
  for (const Catalogue* catalogue : chosen) {
    if (json) {
      JsonLines lines(std::cout);
      for (const auto& item : catalogue->items()) lines.write(describe(*catalogue, item));
      continue;
    }
    if (!first) std::cout << "\n";
    first = false;
    print(*catalogue);
  }
}

}  // namespace

void add_list_command(CLI::App& app) {
  struct Arguments {
    std::string kind;
    bool json = false;
  };
  const auto arguments = std::make_shared<Arguments>();
  auto* command = app.add_subcommand("list", "List everything there is to choose from");
  command->add_option("kind", arguments->kind, "Only this kind, such as allreduce");
  command->add_flag("--json", arguments->json, "One JSON object a line");
  command->callback([arguments] { list(arguments->kind, arguments->json); });
}

}  // namespace lockstep
