// The parts of a TOML file, each checked, with file and line in the sentence for what is wrong.
// Only for files that include toml++ anyway.
#pragma once

#include <fmt/format.h>
#include <toml++/toml.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lockstep/base/error.h"
#include "lockstep/base/text.h"

namespace lockstep {

class TomlFile {
 public:
  explicit TomlFile(std::string path) : path_(std::move(path)) {}
  const std::string& path() const { return path_; }

  static toml::table parse(std::string_view text, const std::string& path) {
    try {
      return toml::parse(text, path);
    } catch (const toml::parse_error& error) {
      throw ConfigError("{}:{}:{}: {}", path, error.source().begin.line,
                        error.source().begin.column, error.description());
    }
  }

  std::string where(const toml::node& node) const {
    return fmt::format("{}:{}", path_, node.source().begin.line);
  }
  template <typename... Args>
  [[noreturn]] void fail(const toml::node& node, fmt::format_string<Args...> text,
                         Args&&... args) const {
    throw ConfigError("{}: {}", where(node), fmt::format(text, std::forward<Args>(args)...));
  }
  [[noreturn]] void fail_key(const toml::node& node, std::string_view what, std::string_view key,
                             const std::vector<std::string>& valid) const {
    fail(node, "{}", unknown_name(what, key, valid));
  }

  const toml::table& as_table(const toml::node& node, std::string_view name) const {
    if (!node.is_table()) fail(node, "{} must be a table", name);
    return *node.as_table();
  }
  const toml::array& as_array(const toml::node& node, std::string_view name) const {
    if (!node.is_array()) fail(node, "{} must be a list", name);
    return *node.as_array();
  }
  std::string text_of(const toml::node& node, std::string_view name) const {
    if (!node.is_string()) fail(node, "{} must be a text", name);
    return node.as_string()->get();
  }

 private:
  std::string path_;
};

}  // namespace lockstep
