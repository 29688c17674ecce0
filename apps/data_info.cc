#include "apps/data_info.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iostream>
#include <memory>

#include "apps/component_options.h"
#include "lockstep/base/json_lines.h"
#include "lockstep/base/text.h"
#include "lockstep/data/dataset.h"
#include "lockstep/data/published.h"

namespace lockstep {
namespace {

struct Arguments {
  std::string name;
  std::vector<std::string> settings;
  bool json = false;
};

const char* kind_of(const DataShape& shape) {
  switch (shape.kind) {
    case DataShape::Kind::kImage:
      return "image";
    case DataShape::Kind::kVector:
      return "vector";
    case DataShape::Kind::kTokens:
      return "tokens";
  }
  return "";
}

// A class may be any byte of a text: shown as it is only if it can be.
std::string shown(const std::string& class_name) {
  std::string text;
  for (const char c : class_name) {
    text += c > ' ' && c <= '~' ? std::string(1, c)
                                : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return text;
}

struct ClassCounts {
  std::vector<std::size_t> train, test;
};

ClassCounts count_classes(const Dataset& dataset) {
  const auto classes = static_cast<std::size_t>(dataset.shape.classes);
  ClassCounts counts{std::vector<std::size_t>(classes), std::vector<std::size_t>(classes)};
  for (std::size_t i = 0; i < dataset.labels.size(); ++i) {
    auto& of = i < dataset.first_test ? counts.train : counts.test;
    ++of[static_cast<std::size_t>(dataset.labels[i])];
  }
  return counts;
}

Json describe(const Dataset& dataset, const Published* published) {
  const bool bytes = std::holds_alternative<AlignedVector<std::uint8_t>>(dataset.values);
  Json json = {
      {"name", dataset.name},
      {"samples", dataset.size()},
      {"train", dataset.first_test},
      {"test", dataset.size() - dataset.first_test},
      {"kind", kind_of(dataset.shape)},
      {"shape", dataset.shape.sample},
      {"element", bytes ? "uint8" : "float32"},
      {"bytes", std::visit([](const auto& v) { return v.size() * sizeof(v[0]); }, dataset.values)},
      {"classes", dataset.shape.classes}};
  Json names = Json::array();
  for (const auto& name : dataset.class_names) names.push_back(shown(name));
  json["class_names"] = names;
  if (dataset.shape.kind == DataShape::Kind::kTokens) {
    json["stride"] = dataset.stride;
  } else {
    const ClassCounts counts = count_classes(dataset);
    json["train_of_class"] = counts.train;
    json["test_of_class"] = counts.test;
  }
  if (published != nullptr) {
    json["folder"] = published->folder().string();
    json["checksum"] = "right";  // load throws otherwise
  }
  return json;
}

void print(const Dataset& dataset, const Json& facts) {
  const auto line = [](const char* what, const std::string& value) {
    std::cout << fmt::format("{:<9} {}\n", what, value);
  };
  line("name", dataset.name);
  line("samples", fmt::format("{}: {} to train on, {} to test", dataset.size(), dataset.first_test,
                              dataset.size() - dataset.first_test));
  line("sample",
       fmt::format("{} of {}, {}", kind_of(dataset.shape), fmt::join(dataset.shape.sample, "x"),
                   facts.at("element").get<std::string>()));
  line("memory", format_size(facts.at("bytes").get<std::size_t>()));
  if (facts.contains("folder")) {
    line("where", facts.at("folder").get<std::string>());
    line("checksum", "right");
  }
  std::vector<std::string> names = facts.at("class_names");
  if (dataset.shape.kind == DataShape::Kind::kTokens) {
    line("stride", fmt::format("{}", dataset.stride));
    line("alphabet", fmt::format("{} characters: {}", names.size(), fmt::join(names, " ")));
    return;
  }
  line("classes", fmt::format("{}", dataset.shape.classes));
  constexpr std::size_t kMostRows = 100;
  const ClassCounts counts = count_classes(dataset);
  std::vector<std::vector<std::string>> rows = {{"class", "train", "test"}};
  for (std::size_t c = 0; c < std::min(counts.train.size(), kMostRows); ++c) {
    rows.push_back({c < names.size() ? names[c] : fmt::format("{}", c),
                    fmt::format("{}", counts.train[c]), fmt::format("{}", counts.test[c])});
  }
  std::cout << "\n" << format_table(rows);
  if (counts.train.size() > kMostRows) {
    std::cout << fmt::format("and {} more (--json has all)\n", counts.train.size() - kMostRows);
  }
}

void info(const Arguments& arguments) {
  const auto& registry = Registry<DatasetSource>::instance();
  const auto source = registry.make(
      arguments.name, component_options(registry, arguments.name, arguments.settings));
  const auto dataset = source->load();
  const Json facts = describe(*dataset, source->published());
  if (arguments.json) {
    JsonLines(std::cout).write(facts);
  } else {
    print(*dataset, facts);
  }
}

}  // namespace

void add_data_info(CLI::App& data) {
  const auto arguments = std::make_shared<Arguments>();
  auto* command = data.add_subcommand("info", "Load a data set and say what is in it");
  command->add_option("name", arguments->name, "Which; `lockstep data list` has the names")
      ->required();
  add_set_option(*command, arguments->settings);
  command->add_flag("--json", arguments->json, "As one JSON object");
  command->callback([arguments] { info(*arguments); });
}

}  // namespace lockstep
