// Checkpoints of a group: everything with state on every rank, in one file that rank 0 writes.
//
// Saving: every rank hashes its values and tells rank 0 the digests. A value that is equal
// everywhere (weights and optimizer of a synchronous run) is stored once, from rank 0; the others
// are sent, a value at a time and straight from where they stand, so that nobody holds a copy of
// the whole. Loading: rank 0 takes the newest file that is not damaged, hands the common part to
// all and each rank its own. Of a model in stages, `plan` says which part each rank holds; ranks
// are stage · workers + worker. The file is that of a whole model (checkpoint_slices.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lockstep/collective/group.h"
#include "lockstep/train/checkpoint_slices.h"

namespace lockstep {

// Collective. Writes `folder`/step-….ckpt and keeps the `keep` newest. meta.workers is set to how
// many there are. When rank 0 returns, the file is on the disk; the others may return before.
// Returns its path. DataError if it cannot be written.
std::string save_checkpoint(Group& group, const std::string& folder, CheckpointMeta meta,
                            const ShowState& show, int keep, const StagePlan* plan = nullptr);

enum class OtherWorkers { kRefuse, kAllow };

// What a rank got from a file.
class LoadedCheckpoint {
 public:
  const CheckpointMeta& meta() const { return index_.meta; }
  const std::string& path() const { return path_; }
  // A sentence for each newer checkpoint that could not be used, for the log; the same on all
  // ranks.
  const std::vector<std::string>& passed_over() const { return passed_over_; }
  // What the other number of workers means, in a sentence; empty if it is the same.
  const std::string& change() const { return change_; }
  // Was there nobody in this rank's place?
  bool newcomer() const { return newcomer_; }

  // Overwrites what `show` shows; returns the names of stored values it did not show, unless they
  // may be another stage's. DataError if one is not there or has another length.
  std::vector<std::string> restore(const ShowState& show) const;

 private:
  friend std::optional<LoadedCheckpoint> load_checkpoint(Group&, const std::string&, OtherWorkers,
                                                         const StagePlan*);

  std::string path_;
  CheckpointIndex index_;
  std::vector<TakenValue> taken_;  // offsets are those in bytes_
  std::vector<std::byte> bytes_;
  bool of_stage_ = false, newcomer_ = false;
  std::vector<std::string> passed_over_;
  std::string change_;
};

// Collective. Nothing if the folder holds no checkpoint; DataError if it holds damaged ones only.
// With another number of workers than at saving, worker w takes the values of worker w modulo the
// old number, or all get a ConfigError.
std::optional<LoadedCheckpoint> load_checkpoint(Group& group, const std::string& folder,
                                                OtherWorkers other = OtherWorkers::kRefuse,
                                                const StagePlan* plan = nullptr);

}  // namespace lockstep
