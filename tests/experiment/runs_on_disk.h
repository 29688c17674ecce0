// Directories of runs as training leaves them, with results of a test's choice.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "lockstep/base/json_lines.h"
#include "lockstep/train/config.h"
#include "lockstep/train/run_directory.h"

namespace lockstep {

// `accuracies` of validation, one an epoch; epochs take 10 s, 1000 samples and 1 MB each.
inline void write_run(const std::string& path, const std::vector<std::string>& settings,
                      const std::vector<double>& accuracies, bool complete = true) {
  const RunPaths paths{path};
  std::filesystem::create_directories(path);
  Config config;
  config.set({"model.name=fake", "data.name=shapes"});
  config.set(settings);
  std::ofstream(paths.config()) << config.to_toml();
  JsonLines metrics(paths.metrics());
  double epoch = 0;
  for (const double accuracy : accuracies) {
    epoch += 1;
    metrics.write({{"step", 10 * epoch},
                   {"epoch", epoch},
                   {"samples", 1000 * epoch},
                   {"bytes", 1e6 * epoch},
                   {"seconds", 10 * epoch},
                   {"loss", 1 - accuracy}});
    metrics.write({{"step", 10 * epoch},
                   {"epoch", epoch},
                   {"samples", 1000 * epoch},
                   {"bytes", 1e6 * epoch},
                   {"seconds", 10 * epoch},
                   {"validation_loss", 1 - accuracy},
                   {"validation_accuracy", accuracy}});
  }
  if (!complete) return;
  metrics.write({{"step", 10 * epoch}, {"epoch", epoch}, {"test_accuracy", accuracies.back() / 2}});
  const Json worker{{"steps", 10 * epoch},  {"loading", 0.1},  {"computing", 5.0},
                    {"forward", 2.0},       {"updating", 0.5}, {"waiting", 1.0},
                    {"communicating", 2.0}, {"encoding", 0.0}, {"decoding", 0.0},
                    {"coding_beside", 0.0}, {"hidden", 0.0}};
  const Json summary{{"workers", 2},
                     {"steps", 10 * epoch},
                     {"epochs", epoch},
                     {"samples", 1000 * epoch},
                     {"bytes", 1e6 * epoch},
                     {"seconds", 10 * epoch},
                     {"by_worker", {worker, worker}}};
  std::ofstream(paths.summary()) << summary.dump();
}

}  // namespace lockstep
