#include "lockstep/base/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "lockstep/base/error.h"
#include "lockstep/base/text.h"

namespace lockstep {
namespace {

template <class... Cases>
struct Match : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Match(Cases...) -> Match<Cases...>;

std::string toml_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\u{:04x}", static_cast<int>(c));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

// TOML tells 1 from 1.0; a whole number of a real option must keep its point.
std::string real_text(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

bool parse_flag(std::string_view written, const std::string& where) {
  const std::string text = trim(written);
  for (const char* yes : {"true", "yes", "on", "1"}) {
    if (text == yes) return true;
  }
  for (const char* no : {"false", "no", "off", "0"}) {
    if (text == no) return false;
  }
  throw ConfigError("{}: \"{}\" is neither true nor false", where, text);
}

// Lists may be written with or without brackets: [1, 2] or 1,2.
std::vector<std::string> list_pieces(std::string_view text) {
  std::string clean = trim(text);
  if (clean.size() >= 2 && clean.front() == '[' && clean.back() == ']') {
    clean = clean.substr(1, clean.size() - 2);
  }
  return split(clean, ',');
}

}  // namespace

std::string to_text(const OptionValue& value) {
  return std::visit(
      Match{[](bool v) { return std::string(v ? "true" : "false"); },
            [](std::int64_t v) { return fmt::format("{}", v); },
            [](double v) { return fmt::format("{}", v); }, [](const std::string& v) { return v; },
            [](const std::vector<double>& v) { return fmt::format("{}", fmt::join(v, ",")); },
            [](const std::vector<std::string>& v) { return fmt::format("{}", fmt::join(v, ",")); }},
      value);
}

std::string to_toml(const OptionValue& value) {
  return std::visit(Match{[](const std::string& v) { return toml_string(v); },
                          [](double v) { return real_text(v); },
                          [](const std::vector<double>& v) {
                            std::vector<std::string> items;
                            for (const double item : v) items.push_back(real_text(item));
                            return fmt::format("[{}]", fmt::join(items, ", "));
                          },
                          [](const std::vector<std::string>& v) {
                            std::vector<std::string> items;
                            for (const auto& item : v) items.push_back(toml_string(item));
                            return fmt::format("[{}]", fmt::join(items, ", "));
                          },
                          [](const auto& v) { return to_text(v); }},
                    value);
}

Option::Option(std::string name, OptionValue fallback, std::string sentence)
    : name_(std::move(name)), fallback_(std::move(fallback)), sentence_(std::move(sentence)) {}

Option& Option::at_least(double bound) {
  least_ = bound;
  return *this;
}
Option& Option::at_most(double bound) {
  most_ = bound;
  return *this;
}
Option& Option::above(double bound) {
  above_ = bound;
  return *this;
}
Option& Option::one_of(std::vector<std::string> choices) {
  choices_ = std::move(choices);
  return *this;
}

std::string Option::type() const {
  constexpr const char* kNames[] = {"true or false", "integer",         "number",
                                    "text",          "list of numbers", "list of texts"};
  return kNames[fallback_.index()];
}

std::string Option::bounds() const {
  std::vector<std::string> parts;
  if (!choices_.empty()) parts.push_back(fmt::format("one of {}", fmt::join(choices_, ", ")));
  if (least_) parts.push_back(fmt::format("at least {}", *least_));
  if (above_) parts.push_back(fmt::format("greater than {}", *above_));
  if (most_) parts.push_back(fmt::format("at most {}", *most_));
  return fmt::format("{}", fmt::join(parts, ", "));
}

void Option::check_bounds(double value, const std::string& where) const {
  if (std::isnan(value)) throw ConfigError("{} is nan; it must be a number", where);
  const bool ok =
      (!least_ || value >= *least_) && (!most_ || value <= *most_) && (!above_ || value > *above_);
  if (!ok) throw ConfigError("{} is {}; it must be {}", where, value, bounds());
}

void Option::check_choice(const std::string& value, const std::string& where) const {
  if (choices_.empty()) return;
  if (std::find(choices_.begin(), choices_.end(), value) == choices_.end()) {
    throw ConfigError("{}: {}", where, unknown_name("value", value, choices_));
  }
}

OptionValue Option::parse(std::string_view text, const std::string& owner) const {
  const std::string where = fmt::format("{}: option {}", owner, name_);
  const OptionValue value = std::visit(
      Match{[&](bool) -> OptionValue { return parse_flag(text, where); },
            [&](std::int64_t) -> OptionValue { return parse_integer(text, where); },
            [&](double) -> OptionValue { return parse_real(text, where); },
            [&](const std::string&) -> OptionValue { return std::string(text); },
            [&](const std::vector<double>&) -> OptionValue {
              std::vector<double> items;
              for (const auto& piece : list_pieces(text)) items.push_back(parse_real(piece, where));
              return items;
            },
            [&](const std::vector<std::string>&) -> OptionValue { return list_pieces(text); }},
      fallback_);
  return accept(value, owner);
}

OptionValue Option::accept(OptionValue value, const std::string& owner) const {
  const std::string where = fmt::format("{}: option {}", owner, name_);
  if (std::holds_alternative<double>(fallback_) && std::holds_alternative<std::int64_t>(value)) {
    value = static_cast<double>(std::get<std::int64_t>(value));
  }
  if (const auto* list = std::get_if<std::vector<double>>(&value);
      list != nullptr && list->empty() &&
      std::holds_alternative<std::vector<std::string>>(fallback_)) {
    value = std::vector<std::string>();  // an empty list does not show what it is a list of
  }
  if (value.index() != fallback_.index()) {
    throw ConfigError("{} is {}; it must be {}", where, lockstep::to_toml(value), type());
  }
  std::visit(Match{[&](std::int64_t v) { check_bounds(static_cast<double>(v), where); },
                   [&](double v) { check_bounds(v, where); },
                   [&](const std::vector<double>& items) {
                     for (const double v : items) check_bounds(v, where);
                   },
                   [&](const std::string& v) { check_choice(v, where); },
                   [&](const std::vector<std::string>& items) {
                     for (const auto& v : items) check_choice(v, where);
                   },
                   [](bool) {}},
             value);
  return value;
}

Option& OptionSet::add(std::string name, OptionValue fallback, std::string sentence) {
  for (const auto& known : options_) {
    LOCKSTEP_CHECK(known.name() != name, "two options named \"{}\"", name);
  }
  options_.emplace_back(std::move(name), std::move(fallback), std::move(sentence));
  return options_.back();
}
Option& OptionSet::flag(std::string name, bool fallback, std::string sentence) {
  return add(std::move(name), fallback, std::move(sentence));
}
Option& OptionSet::integer(std::string name, std::int64_t fallback, std::string sentence) {
  return add(std::move(name), fallback, std::move(sentence));
}
Option& OptionSet::real(std::string name, double fallback, std::string sentence) {
  return add(std::move(name), fallback, std::move(sentence));
}
Option& OptionSet::text(std::string name, std::string fallback, std::string sentence) {
  return add(std::move(name), std::move(fallback), std::move(sentence));
}
Option& OptionSet::reals(std::string name, std::vector<double> fallback, std::string sentence) {
  return add(std::move(name), std::move(fallback), std::move(sentence));
}
Option& OptionSet::texts(std::string name, std::vector<std::string> fallback,
                         std::string sentence) {
  return add(std::move(name), std::move(fallback), std::move(sentence));
}

const Option& OptionSet::at(std::string_view name, const std::string& owner) const {
  std::vector<std::string> names;
  for (const auto& option : options_) {
    if (option.name() == name) return option;
    names.push_back(option.name());
  }
  if (names.empty()) throw ConfigError("{} has no options, but \"{}\" was set", owner, name);
  throw ConfigError("{}: {}", owner, unknown_name("option", name, names));
}

Options::Options(OptionSet declared, std::string owner)
    : declared_(std::move(declared)), owner_(std::move(owner)) {
  for (const auto& option : declared_.all()) values_[option.name()] = option.fallback();
}

void Options::set(std::string_view name, std::string_view text) {
  const Option& option = declared_.at(name, owner_);
  values_[option.name()] = option.parse(text, owner_);
}

void Options::set_value(std::string_view name, OptionValue value) {
  const Option& option = declared_.at(name, owner_);
  values_[option.name()] = option.accept(std::move(value), owner_);
}

const OptionValue& Options::value(std::string_view name) const {
  const auto found = values_.find(name);
  LOCKSTEP_CHECK(found != values_.end(), "{} declares no option \"{}\"", owner_, name);
  return found->second;
}

bool Options::flag(std::string_view name) const {
  return std::get<bool>(value(name));
}
std::int64_t Options::integer(std::string_view name) const {
  return std::get<std::int64_t>(value(name));
}
double Options::real(std::string_view name) const {
  return std::get<double>(value(name));
}
const std::string& Options::text(std::string_view name) const {
  return std::get<std::string>(value(name));
}
const std::vector<double>& Options::reals(std::string_view name) const {
  return std::get<std::vector<double>>(value(name));
}
const std::vector<std::string>& Options::texts(std::string_view name) const {
  return std::get<std::vector<std::string>>(value(name));
}

std::string Options::to_toml() const {
  std::string text;
  for (const auto& option : declared_.all()) {
    text += fmt::format("{} = {}\n", option.name(), lockstep::to_toml(values_.at(option.name())));
  }
  return text;
}

}  // namespace lockstep
