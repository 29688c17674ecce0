// The configuration of a run: one section a question. A section has keys of its own, and may choose
// a component whose options are keys of the section too. Later layers override earlier ones:
// defaults, preset, file, `--set`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lockstep/base/options.h"
#include "lockstep/base/registry.h"

namespace lockstep {

// What a section may hold.
struct SectionKind {
  std::string name;                      // "optim"
  std::string sentence;                  // "How the parameters are updated."
  OptionSet own;                         // keys that do not depend on the component
  const Catalogue* catalogue = nullptr;  // the components to choose from, or none
  std::string selector;                  // the key that chooses: "name"; "algorithm" in [aggregate]
  std::string fallback;  // the component if nothing is said; empty: something must be
};

// All of them, in the order in which they are written.
const std::vector<SectionKind>& section_kinds();

class Section {
 public:
  explicit Section(const SectionKind& kind);

  const std::string& component() const;                     // ConfigError if none was chosen
  const std::string& chosen() const { return component_; }  // the same, or ""
  const Options& own() const { return own_; }
  const Options& options() const { return options_; }  // of the component

  bool chooses(const std::string& key) const;  // is it the key that chooses the component?
  // Starts from the component's defaults. "torchscript:net.pt" also sets its first option.
  void choose(const std::string& component);
  void set_value(const std::string& key, OptionValue value);
  void set_text(const std::string& key, std::string_view text);
  // As one would write it after `--set section.key=`; a ConfigError with the valid keys.
  std::string text_of(const std::string& key) const;
  std::string to_toml() const;

 private:
  const Options& owner_of(const std::string& key) const;  // ConfigError with the valid keys

  const SectionKind* kind_;
  std::string component_;
  Options own_, options_;
};

class Config {
 public:
  Config();  // the defaults

  // Errors name the origin, the line and the key, what was given and what is allowed.
  void read_file(const std::string& path);
  void read_text(std::string_view toml, const std::string& origin);
  // "section.key=value" each, all of one layer.
  void set(const std::vector<std::string>& settings);

  const Section& at(std::string_view section) const;
  Section& at(std::string_view section);
  std::string to_toml() const;  // resolved, with defaults; read_text() of it gives the same again

 private:
  std::vector<Section> sections_;
};

}  // namespace lockstep
