#include "lockstep/experiment/sweep_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "lockstep/base/error.h"
#include "lockstep/base/file.h"
#include "lockstep/base/text.h"
#include "lockstep/experiment/sweep_values.h"

namespace lockstep {
namespace {

constexpr std::size_t kLongestFile = 1 << 20;  // bytes

class SweepReader : private SweepValues {
 public:
  explicit SweepReader(std::string file) : SweepValues(std::move(file)) {
    sweep_.name = std::filesystem::path(path()).stem();
    sweep_.seeds = {1};
  }

  SweepFile read(const std::string& scale) {
    const toml::table root = parse(read_text_file(path(), kLongestFile), path());
    const toml::node* scales = root.get("scale");
    read_table(root, "");
    check_published();
    if (scale != "full") read_scale(scales, scale);
    check();
    return std::move(sweep_);
  }

 private:
  void read_scale(const toml::node* scales, const std::string& scale) {
    std::vector<std::string> names{"full"};
    if (scales != nullptr && scales->is_table()) {
      for (const auto& [name, table] : *scales->as_table()) names.emplace_back(name.str());
    }
    if (std::ranges::find(names, scale) == names.end()) {
      throw ConfigError("{}: {}", path(), unknown_name("scale", scale, names));
    }
    read_table(as_table(*scales->as_table()->get(scale), "scale"), "scale");
  }

  // `within`: "scale", or "" for the file itself.
  void read_table(const toml::table& table, std::string_view within) {
    axes_here_.clear();
    if (table.contains("preset") && table.contains("file")) {
      fail(table, "a sweep has a preset or a file, not both");
    }
    for (const auto& [key, node] : table) {
      const std::string_view name = key.str();
      if (name == "title") {
        sweep_.title = text_of(node, name);
      } else if (name == "text") {
        sweep_.text = trim(text_of(node, name));
      } else if (name == "preset") {
        sweep_.preset = text_of(node, name);
        sweep_.file.clear();
      } else if (name == "file") {
        sweep_.file =
            (std::filesystem::path(path()).parent_path() / text_of(node, name)).lexically_normal();
        sweep_.preset.clear();
      } else if (name == "seeds") {
        read_seeds(node);
      } else if (name == "base") {
        merge(sweep_.base, settings_of(node, name));
      } else if (name == "derived") {
        merge(sweep_.derived, settings_of(node, name));
      } else if (name == "axis") {
        for (const toml::node& one : as_array(node, name)) read_axis(as_table(one, name));
      } else if (name == "exclude") {
        sweep_.exclude = texts_of(node, name);
      } else if (name == "baseline") {
        sweep_.baseline = texts_of(node, name);
      } else if (name == "metric") {
        read_metric(node);
      } else if (name == "target") {
        sweep_.target = number_of(node, name);
      } else if (name == "published") {
        read_published(node);
      } else if (name != "scale" || !within.empty()) {
        static const std::vector<std::string> kNames{
            "title", "text",    "preset",   "file",   "seeds",  "base",      "derived",
            "axis",  "exclude", "baseline", "metric", "target", "published", "scale"};
        fail(node, "{}", unknown_name("key of a sweep", name, kNames));
      }
    }
  }

  void read_seeds(const toml::node& node) {
    sweep_.seeds.clear();
    for (const toml::node& one : as_array(node, "seeds")) {
      const auto* seed = one.as_integer();
      if (seed == nullptr || seed->get() < 0) fail(one, "seeds are whole numbers from 0");
      if (std::ranges::find(sweep_.seeds, seed->get()) != sweep_.seeds.end()) {
        fail(one, "seed {} stands there twice", seed->get());
      }
      sweep_.seeds.push_back(seed->get());
    }
    if (sweep_.seeds.empty()) fail(node, "there must be a seed");
  }

  void read_metric(const toml::node& node) {
    const std::string text = text_of(node, "metric");
    const auto metric = metric_named(text);
    if (!metric) fail(node, "metric is \"{}\"; it must be validation, best or test", text);
    sweep_.metric = *metric;
  }

  static void merge(std::vector<Setting>& into, std::vector<Setting> more) {
    for (Setting& setting : more) {
      std::erase_if(into, [&](const Setting& old) { return old.key == setting.key; });
      into.push_back(std::move(setting));
    }
  }

  void read_axis(const toml::table& table) {
    Axis axis;
    const toml::node* key = table.get("key");
    const toml::node* values = table.get("values");
    const toml::node* points = table.get("points");
    for (const auto& [name, node] : table) {
      static const std::vector<std::string> kNames{"name", "key", "values", "points"};
      if (std::ranges::find(kNames, name.str()) == kNames.end()) {
        fail(node, "{}", unknown_name("key of an axis", name.str(), kNames));
      }
    }
    if (const toml::node* name = table.get("name")) axis.name = text_of(*name, "name");
    if (key != nullptr && values != nullptr && points == nullptr) {
      const std::string setting = text_of(*key, "key");
      if (axis.name.empty()) axis.name = setting;
      for (const toml::node& value : as_array(*values, "values")) {
        const std::string text = value_text(value, "values");
        axis.points.push_back({text, {{setting, text}}});
      }
    } else if (points != nullptr && key == nullptr && values == nullptr) {
      if (axis.name.empty()) fail(*points, "an axis of points needs a name");
      for (const toml::node& one : as_array(*points, "points")) read_point(one, axis);
    } else {
      fail(table, "an axis has key and values, or name and points");
    }
    if (axis.points.empty()) fail(table, "axis {} has no points", axis.name);
    if (!axes_here_.insert(axis.name).second) fail(table, "axis {} stands there twice", axis.name);
    const auto old = std::ranges::find(sweep_.axes, axis.name, &Axis::name);
    if (old == sweep_.axes.end()) {
      sweep_.axes.push_back(std::move(axis));
    } else {
      *old = std::move(axis);  // a scale's
    }
  }

  void read_point(const toml::node& node, Axis& axis) {
    AxisPoint point{"", settings_of(node, "points")};
    std::erase_if(point.settings, [&](const Setting& setting) {
      if (setting.key != "label") return false;
      point.label = setting.value;
      return true;
    });
    if (point.label.empty()) {
      std::vector<std::string> parts;
      for (const Setting& one : point.settings) parts.push_back(one.value);
      point.label = fmt::format("{}", fmt::join(parts, " "));
    }
    axis.points.push_back(std::move(point));
  }

  void read_published(const toml::node& node) {
    sweep_.published.clear();
    for (const toml::node& one : as_array(node, "published")) {
      PublishedResult published;
      for (const auto& [key, value] : as_table(one, "published")) {
        const std::string_view name = key.str();
        if (name == "at") {
          published.at = texts_of(value, name);
        } else if (name == "mean") {
          published.mean = number_of(value, name);
        } else if (name == "std") {
          published.std = number_of(value, name);
        } else if (name == "runs") {
          published.runs = static_cast<std::size_t>(std::max(1.0, number_of(value, name)));
        } else {
          fail(value, "unknown key of published: {}; valid: at, mean, std, runs", name);
        }
      }
      sweep_.published.push_back(std::move(published));
    }
  }

  void check() const {
    for (const Axis& axis : sweep_.axes) {
      std::set<std::string> labels;
      for (const AxisPoint& point : axis.points) {
        if (!labels.insert(point.label).second) {
          throw ConfigError("{}: axis {} has the point \"{}\" twice", path(), axis.name,
                            point.label);
        }
      }
    }
    if (!sweep_.baseline.empty()) check_labels("baseline", sweep_.baseline);
    std::vector<std::vector<Setting>> all{sweep_.base, sweep_.derived};
    for (const Axis& axis : sweep_.axes) {
      for (const AxisPoint& point : axis.points) all.push_back(point.settings);
    }
    for (const auto& settings : all) {
      if (std::ranges::find(settings, "train.seed", &Setting::key) == settings.end()) continue;
      throw ConfigError("{}: train.seed is set by seeds = [1, 2, …]", path());
    }
  }

  // Each of its labels must be a point of the file's own axes; a scale may have fewer of them.
  void check_published() const {
    for (const PublishedResult& one : sweep_.published) {
      check_labels("published", one.at);
      for (std::size_t i = 0; i < one.at.size(); ++i) {
        std::vector<std::string> labels;
        for (const AxisPoint& point : sweep_.axes[i].points) labels.push_back(point.label);
        if (std::ranges::find(labels, one.at[i]) != labels.end()) continue;
        throw ConfigError("{}: published: {}", path(),
                          unknown_name("point of " + sweep_.axes[i].name, one.at[i], labels));
      }
    }
  }

  void check_labels(std::string_view what, const std::vector<std::string>& labels) const {
    if (labels.size() == sweep_.axes.size()) return;
    throw ConfigError("{}: {} [{}] has {} labels, but there are {} axes", path(), what,
                      fmt::join(labels, ", "), labels.size(), sweep_.axes.size());
  }

  SweepFile sweep_;
  std::set<std::string> axes_here_;  // in the table that is read
};

}  // namespace

std::string short_name(const std::string& key) {
  const auto dot = key.find('.');
  if (dot == std::string::npos) return key;
  const std::string last = key.substr(dot + 1);
  return last == "name" ? key.substr(0, dot) : last;
}

std::string to_text(Metric metric) {
  switch (metric) {
    case Metric::kBest:
      return "best";
    case Metric::kTest:
      return "test";
    case Metric::kValidation:
      break;
  }
  return "validation";
}

std::optional<Metric> metric_named(const std::string& text) {
  for (const Metric metric : {Metric::kValidation, Metric::kBest, Metric::kTest}) {
    if (to_text(metric) == text) return metric;
  }
  return {};
}

SweepFile read_sweep_file(const std::string& path, const std::string& scale) {
  return SweepReader(path).read(scale);
}

}  // namespace lockstep
