// Runs beside each other: those that differ only in their seeds are one line, with mean and spread,
// and the lines are tested against a baseline.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lockstep/experiment/run_record.h"
#include "lockstep/experiment/statistics.h"

namespace lockstep {

// A point of a line's curve: means over its runs.
struct BandPoint {
  double epoch = 0, samples = 0, seconds = 0, bytes = 0;
  double mean = 0, std = 0;  // of the validation accuracy, 0 to 1; the sample's deviation
};

// How a line compares with the baseline.
struct Verdict {
  TestResult test;
  double corrected = 1;  // p, by Holm over all lines
  double effect = 0;     // Hedges' g
};

// What it took to reach the target accuracy: of those runs that did.
struct ToTarget {
  std::size_t reached = 0;
  Spread seconds, samples, bytes;
};

struct Line {
  std::string label;
  std::vector<std::string> labels;  // by axis, of a sweep
  std::vector<RunRecord> runs;
  std::vector<BandPoint> band;
  Spread accuracy;  // in per cent, of complete runs
  Spread seconds, bytes;
  ToTarget to_target;
  std::optional<Verdict> against_baseline;
  std::optional<PublishedResult> published;
  std::optional<TestResult> against_published;
  // Settings that are not the same in all lines.
  std::vector<Setting> differences;
};

struct ComparisonOptions {
  std::optional<Metric> metric = {};
  std::optional<double> target = {};  // per cent
  std::string baseline = {};          // a line's label; empty: that of the sweep, or the first
  MeanTest test = MeanTest::kWelch;
  Tail tail = Tail::kTwo;
  double confidence = 0.95;
};

struct Comparison {
  std::string title, text;
  std::vector<std::string> axes;  // names, of a sweep
  Metric metric = Metric::kValidation;
  double target = 0;  // per cent; 0: none
  ComparisonOptions options;
  std::vector<Line> lines;
  std::size_t baseline = 0;
  // Where workers share samples, a pass over a shard shows each sample several times: then epochs
  // of the lines are not alike, and curves are against samples.
  bool epochs_alike = true;
  std::vector<Setting> common;  // settings that differ from the defaults and are the same in all
  std::vector<std::string> remarks;  // runs that could not be read, or are not finished
};

// Each of `paths` is a run, a sweep, or a directory that has runs in it. A ConfigError if there is
// nothing to compare.
Comparison compare(const std::vector<std::string>& paths, const ComparisonOptions& options);

}  // namespace lockstep
