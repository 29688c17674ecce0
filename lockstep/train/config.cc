#include "lockstep/train/config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "lockstep/base/error.h"
#include "lockstep/base/text.h"
#include "lockstep/base/toml_value.h"

namespace lockstep {
namespace {

std::vector<std::string> section_names() {
  std::vector<std::string> names;
  for (const auto& kind : section_kinds()) names.push_back(kind.name);
  return names;
}

// Adds where it stands to whatever is wrong with a value.
template <typename Action>
void located(const std::string& where, const Action& action) {
  try {
    action();
  } catch (const ConfigError& error) {
    throw ConfigError("{}: {}", where, error.what());
  }
}

void read_section(Section& section, const toml::table& table, const std::string& origin) {
  for (const bool choosing : {true, false}) {  // the component first: other keys are its options
    for (const auto& [key, value] : table) {
      const std::string name(key.str());
      if (section.chooses(name) != choosing) continue;
      located(fmt::format("{}:{}", origin, key.source().begin.line), [&, &given = value] {
        if (!choosing) {
          section.set_value(name, toml_value(given, name));
        } else if (const auto* text = given.as_string()) {
          section.choose(text->get());
        } else {
          throw ConfigError("{} must be a text", name);
        }
      });
    }
  }
}

}  // namespace

Section::Section(const SectionKind& kind)
    : kind_(&kind), own_(kind.own, fmt::format("[{}]", kind.name)) {
  if (!kind.fallback.empty()) choose(kind.fallback);
}

const std::string& Section::component() const {
  if (component_.empty()) {
    throw ConfigError("[{}] {} is missing; valid: {}", kind_->name, kind_->selector,
                      fmt::join(kind_->catalogue->names(), ", "));
  }
  return component_;
}

void Section::choose(const std::string& component) {
  const auto colon = component.find(':');
  const std::string name = component.substr(0, colon);
  Options chosen = kind_->catalogue->options(name);
  if (colon != std::string::npos) {
    const auto& declared = chosen.declared().all();
    if (declared.empty()) {
      throw ConfigError("{} \"{}\" takes nothing after a colon", kind_->catalogue->title(), name);
    }
    chosen.set(declared.front().name(), component.substr(colon + 1));
  }
  component_ = name;
  options_ = std::move(chosen);
}

bool Section::chooses(const std::string& key) const {
  return kind_->catalogue != nullptr && key == kind_->selector;
}

const Options& Section::owner_of(const std::string& key) const {
  std::vector<std::string> valid;
  if (kind_->catalogue != nullptr) valid.push_back(kind_->selector);
  for (const Options* options : {&own_, &options_}) {
    for (const auto& option : options->declared().all()) {
      if (option.name() == key) return *options;
      valid.push_back(option.name());
    }
  }
  const std::string what = component_.empty()
                               ? fmt::format("key of [{}]", kind_->name)
                               : fmt::format("key of [{}] {}", kind_->name, component_);
  throw ConfigError("{}", unknown_name(what, key, valid));
}

void Section::set_value(const std::string& key, OptionValue value) {
  const_cast<Options&>(owner_of(key)).set_value(key, std::move(value));
}

void Section::set_text(const std::string& key, std::string_view text) {
  const_cast<Options&>(owner_of(key)).set(key, text);
}

std::string Section::text_of(const std::string& key) const {
  return chooses(key) ? component_ : to_text(owner_of(key).value(key));
}

std::string Section::to_toml() const {
  std::string text = fmt::format("[{}]\n", kind_->name);
  if (!component_.empty()) {
    text += fmt::format("{} = {}\n", kind_->selector, lockstep::to_toml(component_));
  }
  return text + own_.to_toml() + options_.to_toml();
}

Config::Config() {
  for (const auto& kind : section_kinds()) sections_.emplace_back(kind);
}

const Section& Config::at(std::string_view section) const {
  const auto& kinds = section_kinds();
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (kinds[i].name == section) return sections_[i];
  }
  throw ConfigError("{}", unknown_name("section", section, section_names()));
}

Section& Config::at(std::string_view section) {
  return const_cast<Section&>(static_cast<const Config&>(*this).at(section));
}

void Config::read_file(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) throw ConfigError("cannot read the configuration file {}", path);
  read_text(text.str(), path);
}

void Config::read_text(std::string_view toml, const std::string& origin) {
  toml::table root;
  try {
    root = toml::parse(toml, origin);
  } catch (const toml::parse_error& error) {
    throw ConfigError("{}:{}: {}", origin, error.source().begin.line, error.description());
  }
  for (const auto& [name, node] : root) {
    Section* section = nullptr;
    located(fmt::format("{}:{}", origin, name.source().begin.line), [&, &given = node] {
      section = &at(name.str());
      if (!given.is_table()) throw ConfigError("write [{}], not a value", name.str());
    });
    read_section(*section, *node.as_table(), origin);
  }
}

void Config::set(const std::vector<std::string>& settings) {
  struct Setting {
    std::string where, section, key, value;
  };
  std::vector<Setting> parsed;
  for (const auto& text : settings) {
    const auto equals = text.find('=');
    const auto dot = text.find('.');
    if (equals == std::string::npos || dot == std::string::npos || dot > equals) {
      throw ConfigError("--set {}: write it as section.key=value, such as optim.lr=0.1", text);
    }
    parsed.push_back({fmt::format("--set {}", text), trim(text.substr(0, dot)),
                      trim(text.substr(dot + 1, equals - dot - 1)), trim(text.substr(equals + 1))});
  }
  for (const bool choosing : {true, false}) {
    for (const auto& setting : parsed) {
      located(setting.where, [&] {
        Section& section = at(setting.section);
        if (section.chooses(setting.key) != choosing) return;
        // Naming the component that is chosen already keeps what a file said of it.
        if (!choosing) {
          section.set_text(setting.key, setting.value);
        } else if (setting.value != section.chosen()) {
          section.choose(setting.value);
        }
      });
    }
  }
}

std::string Config::to_toml() const {
  std::string text;
  for (const auto& section : sections_) {
    if (!text.empty()) text += "\n";
    text += section.to_toml();
  }
  return text;
}

}  // namespace lockstep
