// A sweep file: one question, as a grid of configurations with several seeds each.
//
//   title = "Does it matter how many workers there are?"
//   preset = "cifar10-resnet20"            # or file = "mine.toml", beside this one
//   seeds = [1, 2, 3, 4, 5]
//   [base]                                 # settings of every run, over the preset
//   train.epochs = 182
//   [[axis]]
//   key = "cluster.workers"
//   values = [1, 2, 4]
//   [[axis]]                               # several settings at once
//   name = "shards"
//   points = [{label = "none", assign.name = "disjoint"}, {label = "all", assign.name = "full"}]
//   [derived]                              # formulas over settings, and over keys without a dot
//   train.local_batch = "128 / cluster.workers"
//   exclude = ["cluster.workers == 1 and shards == 'all'"]      # above all tables
//   [[published]]                          # somebody else's results, labels in the order of axes
//   at = ["2", "none"]
//   mean = 91.31
//   std = 0.22
//   [scale.small]                          # the same on a smaller scale: what it says replaces
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/experiment/statistics.h"

namespace lockstep {

struct Setting {
  std::string key, value;  // "train.epochs", "182"; a key without a dot is only for formulas
};

// For labels: "cluster.workers" is "workers", but "sync.name" is "sync".
std::string short_name(const std::string& key);

struct AxisPoint {
  std::string label;
  std::vector<Setting> settings;
};

struct Axis {
  std::string name;
  std::vector<AxisPoint> points;
};

struct PublishedResult {
  std::vector<std::string> at;  // labels
  double mean = 0, std = 0;     // in per cent; the deviation of the population
  std::size_t runs = 5;
};

// Which accuracy of a run counts.
enum class Metric { kValidation, kBest, kTest };
std::string to_text(Metric metric);
std::optional<Metric> metric_named(const std::string& text);

struct SweepFile {
  std::string name;  // of the file, without its ending
  std::string title;
  std::string text;    // what it is about, for reports
  std::string preset;  // or
  std::string file;    // relative to the current folder
  std::vector<std::int64_t> seeds;
  std::vector<Setting> base, derived;
  std::vector<Axis> axes;
  std::vector<std::string> exclude;
  std::vector<std::string> baseline;  // labels of the cell that others are compared with, or none
  Metric metric = Metric::kValidation;
  double target = 0;  // accuracy in per cent that times and bytes are counted to; 0: none
  std::vector<PublishedResult> published;
};

// `scale`: "full", or one of the file's. A ConfigError that names file and line, what is wrong and
// what is allowed.
SweepFile read_sweep_file(const std::string& path, const std::string& scale);

}  // namespace lockstep
