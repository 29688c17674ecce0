// Options of a component, declared once: name, default, bounds, sentence. Parsing, validation,
// `--set`, help texts and saved configurations all come from the declaration.
//
//   OptionSet options;
//   options.integer("groups", 0, "number of groups; 0 picks one a host").at_least(0);
//   Options values(options, "all-reduce \"hierarchical\"");
//   values.set("groups", "4");
//   values.integer("groups");  // 4
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace lockstep {

using OptionValue = std::variant<bool, std::int64_t, double, std::string, std::vector<double>,
                                 std::vector<std::string>>;
std::string to_text(const OptionValue& value);  // as a user would write it after `--set x=`
std::string to_toml(const OptionValue& value);  // as it stands in config.toml

class Option {
 public:
  Option(std::string name, OptionValue fallback, std::string sentence);

  Option& at_least(double bound);
  Option& at_most(double bound);
  Option& above(double bound);  // greater than, not equal
  Option& one_of(std::vector<std::string> choices);

  const std::string& name() const { return name_; }
  const std::string& sentence() const { return sentence_; }
  const OptionValue& fallback() const { return fallback_; }
  std::string type() const;    // "integer", "number", "text", "true or false", "list of …"
  std::string bounds() const;  // "at least 1", "one of a, b", or ""

  // The text as a value of this option's type, or a ConfigError that says what is allowed.
  OptionValue parse(std::string_view text, const std::string& owner) const;
  // A typed value checked against type and bounds; whole numbers widen to number.
  OptionValue accept(OptionValue value, const std::string& owner) const;

 private:
  void check_bounds(double value, const std::string& where) const;
  void check_choice(const std::string& value, const std::string& where) const;

  std::string name_;
  OptionValue fallback_;
  std::string sentence_;
  std::optional<double> least_, most_, above_;
  std::vector<std::string> choices_;
};

class OptionSet {
 public:
  Option& flag(std::string name, bool fallback, std::string sentence);
  Option& integer(std::string name, std::int64_t fallback, std::string sentence);
  Option& real(std::string name, double fallback, std::string sentence);
  Option& text(std::string name, std::string fallback, std::string sentence);
  Option& reals(std::string name, std::vector<double> fallback, std::string sentence);
  Option& texts(std::string name, std::vector<std::string> fallback, std::string sentence);

  const std::vector<Option>& all() const { return options_; }
  const Option& at(std::string_view name, const std::string& owner) const;

 private:
  Option& add(std::string name, OptionValue fallback, std::string sentence);
  std::vector<Option> options_;
};

// The values of one component's options: the defaults, then whatever was set.
class Options {
 public:
  Options() = default;
  // `owner` names the component in errors.
  Options(OptionSet declared, std::string owner);

  void set(std::string_view name, std::string_view text);
  void set_value(std::string_view name, OptionValue value);

  bool flag(std::string_view name) const;
  std::int64_t integer(std::string_view name) const;
  double real(std::string_view name) const;
  const std::string& text(std::string_view name) const;
  const std::vector<double>& reals(std::string_view name) const;
  const std::vector<std::string>& texts(std::string_view name) const;

  const OptionValue& value(std::string_view name) const;  // of whatever type
  const OptionSet& declared() const { return declared_; }
  std::string to_toml() const;  // one `name = value` a line, in order of declaration

 private:
  OptionSet declared_;
  std::string owner_;
  std::map<std::string, OptionValue, std::less<>> values_;
};

}  // namespace lockstep
