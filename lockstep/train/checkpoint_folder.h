// The folder of a run's checkpoints: step-00000123.ckpt and so on, of which the newest few stay.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

std::string checkpoint_path(const std::string& folder, std::int64_t step);

struct StoredCheckpoint {
  std::int64_t step;
  std::string path;
};
// By their names, newest first. A folder that is not there has none.
std::vector<StoredCheckpoint> stored_checkpoints(const std::string& folder);

// After `step` was stored: keeps the `keep` newest up to it. Later ones go too: a run that resumed
// from an earlier step passed over them because they are damaged, and will come there again. What a
// killed writer left goes as well.
void prune_checkpoints(const std::string& folder, std::int64_t step, int keep);

}  // namespace lockstep
