// The values of a sweep file, each checked, with file and line in the sentence for what is wrong.
// Only for files that include toml++ anyway.
#pragma once

#include <fmt/format.h>
#include <toml++/toml.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lockstep/base/error.h"
#include "lockstep/base/toml_file.h"
#include "lockstep/base/toml_value.h"
#include "lockstep/experiment/sweep_file.h"

namespace lockstep {

class SweepValues : public TomlFile {
 public:
  using TomlFile::TomlFile;

  double number_of(const toml::node& node, std::string_view name) {
    const double value = node.is_number() ? *node.value<double>() : -1;
    if (!(value >= 0 && value <= 1e6)) fail(node, "{} must be a number from 0", name);
    return value;
  }
  std::vector<std::string> texts_of(const toml::node& node, std::string_view name) {
    std::vector<std::string> texts;
    for (const toml::node& one : as_array(node, name)) {
      texts.push_back(one.is_string() ? one.as_string()->get() : value_text(one, name));
    }
    return texts;
  }
  std::string value_text(const toml::node& node, std::string_view name) {
    try {
      return to_text(toml_value(node, std::string(name)));
    } catch (const ConfigError& error) {
      fail(node, "{}", error.what());
    }
  }

  // {train = {epochs = 3}} is train.epochs = 3; what has no dot is a name for formulas.
  std::vector<Setting> settings_of(const toml::node& node, std::string_view name) {
    std::vector<Setting> settings;
    for (const auto& [key, value] : as_table(node, name)) {
      const std::string section(key.str());
      if (!value.is_table()) {
        settings.push_back({section, value_text(value, section)});
        continue;
      }
      for (const auto& [inner, one] : *value.as_table()) {
        const std::string whole = fmt::format("{}.{}", section, inner.str());
        settings.push_back({whole, value_text(one, whole)});
      }
    }
    return settings;
  }
};

}  // namespace lockstep
