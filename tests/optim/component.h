// Components made from options as text.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lockstep/base/registry.h"

namespace lockstep {

using Settings = std::vector<std::pair<std::string, std::string>>;

template <typename T>
Options component_values(const std::string& name, const Settings& settings = {}) {
  Options options = Registry<T>::instance().options(name);
  for (const auto& [key, text] : settings) options.set(key, text);
  return options;
}

template <typename T>
std::unique_ptr<T> make_component(const std::string& name, const Settings& settings = {}) {
  return Registry<T>::instance().make(name, component_values<T>(name, settings));
}

}  // namespace lockstep
