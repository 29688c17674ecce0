#include "lockstep/experiment/grid.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "lockstep/base/error.h"
#include "lockstep/base/text.h"
#include "lockstep/experiment/formula.h"
#include "lockstep/train/presets.h"

namespace lockstep {
namespace {

constexpr std::size_t kMostCells = 100000;
constexpr std::size_t kMostFormulas = 100;

Config ground_of(const SweepFile& sweep) {
  Config config;
  if (!sweep.file.empty()) {
    config.read_file(sweep.file);
  } else {
    const std::string name = sweep.preset.empty() ? "default" : sweep.preset;
    config.read_text(preset(name).toml, "preset " + name);
  }
  return config;
}

bool is_setting(const std::string& key) {
  return key.find('.') != std::string::npos;
}

void put_settings(const std::vector<Setting>& settings, Config& config) {
  std::vector<std::string> texts;
  for (const Setting& one : settings) {
    if (is_setting(one.key)) texts.push_back(fmt::format("{}={}", one.key, one.value));
  }
  config.set(texts);
}

// What a name in a formula stands for: an axis, a name of its own, another formula, or a setting of
// the run.
class Names {
 public:
  Names(const SweepFile& sweep, const Cell& cell, const Config& config)
      : sweep_(sweep), config_(config) {
    for (std::size_t i = 0; i < cell.labels.size(); ++i) {
      values_[sweep.axes[i].name] = cell.labels[i];
    }
    for (const Setting& one : cell.settings) values_[one.key] = one.value;
  }

  FormulaValue operator()(const std::string& name) {
    if (const auto formula = std::ranges::find(sweep_.derived, name, &Setting::key);
        formula != sweep_.derived.end()) {
      return formula_value(derived(*formula));
    }
    if (const auto found = values_.find(name); found != values_.end()) {
      return formula_value(found->second);
    }
    const auto dot = name.find('.');
    if (dot == std::string::npos) {
      std::vector<std::string> known;
      for (const auto& [key, value] : values_) known.push_back(key);
      throw ConfigError("{}", unknown_name("name in a formula", name, known));
    }
    return formula_value(config_.at(name.substr(0, dot)).text_of(name.substr(dot + 1)));
  }

  const std::string& derived(const Setting& formula) {
    const auto [found, missing] = derived_.try_emplace(formula.key);
    if (!missing) {
      if (!found->second) throw ConfigError("formula {} needs itself", formula.key);
      return *found->second;
    }
    if (derived_.size() > kMostFormulas) throw ConfigError("more than {} formulas", kMostFormulas);
    const auto value =
        evaluate_formula(formula.value, [this](const std::string& name) { return (*this)(name); });
    return found->second.emplace(to_text(value));
  }

 private:
  const SweepFile& sweep_;
  const Config& config_;
  std::map<std::string, std::string> values_;
  std::map<std::string, std::optional<std::string>> derived_;  // nothing while it is computed
};

std::string folder_name(const SweepFile& sweep, const std::vector<std::string>& labels) {
  std::string name;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const std::string& axis = sweep.axes[i].name;
    name += fmt::format("{}{}-{}", i > 0 ? "_" : "", short_name(axis), labels[i]);
  }
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '_' && c != '.') c = '-';
  }
  constexpr std::size_t kLongest = 150;  // file systems take 255, with what is added
  if (name.size() > kLongest) {
    name = fmt::format("{}-{:016x}", name.substr(0, kLongest), stable_hash(name));
  }
  return name.empty() ? "run" : name;
}

}  // namespace

std::vector<Cell> cells_of(const SweepFile& sweep) {
  std::size_t count = 1;
  for (const Axis& axis : sweep.axes) {
    count *= axis.points.size();
    if (count > kMostCells) throw ConfigError("{}: more than {} cells", sweep.name, kMostCells);
  }
  const Config ground = ground_of(sweep);
  std::vector<Cell> cells;
  std::set<std::string> folders;
  for (std::size_t i = 0; i < count; ++i) {
    Cell cell;
    cell.settings = sweep.base;
    std::size_t rest = i, below = count;
    for (const Axis& axis : sweep.axes) {
      below /= axis.points.size();
      const AxisPoint& point = axis.points[rest / below];
      rest %= below;
      cell.labels.push_back(point.label);
      cell.settings.insert(cell.settings.end(), point.settings.begin(), point.settings.end());
    }
    try {
      Config config = ground;
      std::string wrong;  // with the settings; no matter if the cell is excluded
      try {
        put_settings(cell.settings, config);
      } catch (const ConfigError& error) {
        wrong = error.what();
      }
      Names names(sweep, cell, config);
      if (std::ranges::any_of(sweep.exclude, [&](const std::string& formula) {
            return is_true(evaluate_formula(formula, std::ref(names)));
          })) {
        continue;
      }
      if (!wrong.empty()) throw ConfigError("{}", wrong);
      for (const Setting& formula : sweep.derived) {
        cell.settings.push_back({formula.key, names.derived(formula)});
      }
      put_settings(cell.settings, config);
    } catch (const ConfigError& error) {
      throw ConfigError("sweep {}, cell {}: {}", sweep.name, describe(sweep, cell), error.what());
    }
    const std::string folder = folder_name(sweep, cell.labels);
    cell.folder = folder;
    for (int twin = 2; !folders.insert(cell.folder).second; ++twin) {
      cell.folder = fmt::format("{}-{}", folder, twin);
    }
    cells.push_back(std::move(cell));
  }
  if (cells.empty()) throw ConfigError("sweep {}: every cell is excluded", sweep.name);
  if (!sweep.baseline.empty() &&
      std::ranges::find(cells, sweep.baseline, &Cell::labels) == cells.end()) {
    throw ConfigError("sweep {}: there is no cell of the baseline [{}]", sweep.name,
                      fmt::join(sweep.baseline, ", "));
  }
  return cells;
}

std::string describe(const SweepFile& sweep, const Cell& cell) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < cell.labels.size(); ++i) {
    parts.push_back(fmt::format("{}={}", sweep.axes[i].name, cell.labels[i]));
  }
  return parts.empty() ? "the only one" : fmt::format("{}", fmt::join(parts, ", "));
}

Json to_json(const std::vector<Setting>& settings) {
  Json object = Json::object();
  for (const Setting& one : settings) object[one.key] = one.value;
  return object;
}

Config config_of(const SweepFile& sweep, const Cell& cell, std::int64_t seed) {
  Config config = ground_of(sweep);
  std::vector<Setting> settings = cell.settings;
  settings.push_back({"train.seed", fmt::format("{}", seed)});
  put_settings(settings, config);
  return config;
}

}  // namespace lockstep
