#include "lockstep/base/toml_value.h"

#include <fmt/format.h>

#include "lockstep/base/error.h"

namespace lockstep {
namespace {

OptionValue list_value(const toml::array& list, const std::string& where) {
  const bool texts = !list.empty() && list.front().is_string();
  std::vector<double> reals;
  std::vector<std::string> words;
  for (const toml::node& node : list) {
    if (texts ? !node.is_string() : !node.is_number()) {
      throw ConfigError("{} is a list of mixed things; all must be numbers, or all texts", where);
    }
    if (texts) {
      words.push_back(*node.value<std::string>());
    } else {
      reals.push_back(*node.value<double>());
    }
  }
  if (texts) return words;
  return reals;
}

// {3 = 2.0} or {bias = "none"}: the list of its entries.
OptionValue table_value(const toml::table& table, const std::string& where) {
  std::vector<std::string> entries;
  for (const auto& [key, value] : table) {
    if (const auto number = value.is_number() ? value.value<double>() : std::nullopt) {
      entries.push_back(fmt::format("{} = {}", key.str(), *number));
    } else if (const auto* text = value.as_string()) {
      entries.push_back(fmt::format("{} = {}", key.str(), text->get()));
    } else {
      throw ConfigError("{}.{} must be a number or a text", where, key.str());
    }
  }
  return entries;
}

}  // namespace

OptionValue toml_value(const toml::node& node, const std::string& where) {
  if (const auto* flag = node.as_boolean()) return flag->get();
  if (const auto* whole = node.as_integer()) return whole->get();
  if (const auto* real = node.as_floating_point()) return real->get();
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* list = node.as_array()) return list_value(*list, where);
  if (const auto* table = node.as_table()) return table_value(*table, where);
  throw ConfigError("{} must be a number, a text, true or false, or a list", where);
}

}  // namespace lockstep
