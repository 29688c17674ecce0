// What a run has left behind, read for comparison with others: its settings, its curve, its
// results. Also of runs that are not finished. Everything is checked: the files may be anybody's.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/experiment/sweep_file.h"
#include "lockstep/train/step_phases.h"

namespace lockstep {

struct CurvePoint {
  double epoch = 0, samples = 0, seconds = 0, bytes = 0;
  double accuracy = 0;  // of validation, 0 to 1
};

struct RunRecord {
  std::string path;
  std::map<std::string, std::string> settings;  // "train.epochs" → "4"
  std::int64_t seed = 0;
  bool complete = false;
  std::vector<CurvePoint> curve;     // a point a validation
  std::optional<double> best, test;  // accuracies
  double seconds = 0, samples = 0, bytes = 0, epochs = 0;
  std::vector<StepPhase> phases;  // of a step; empty until the run is complete

  std::optional<double> final_validation() const;
  std::optional<double> accuracy(Metric metric) const;
  // Where the validation accuracy first reached `target` (0 to 1); nothing: it did not.
  std::optional<CurvePoint> reaching(double target) const;
};

// A ConfigError where there is no run, a DataError where its files are damaged.
RunRecord read_run_record(const std::string& path);

}  // namespace lockstep
