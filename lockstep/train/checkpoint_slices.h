// Checkpoints of models in stages have the form of those of whole models: a vector that is as long
// as the parameters in every stage, or as the buffers, is stored as the whole one. So a run goes on
// with other cuts, or with none. Everything here is a pure function of what ranks tell.
//
// What is no such vector is stored once if it is equal in all stages of a worker; otherwise a later
// stage's value is stored as "stage1/name".
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "lockstep/pipeline/stage_plan.h"
#include "lockstep/train/checkpoint_file.h"

namespace lockstep {

// What a rank tells about a value before anybody sends it.
struct ValueDigest {
  std::string name;
  StateKind kind;
  std::size_t count;
  std::string sha256;
  bool operator==(const ValueDigest&) const = default;
};
using ValueDigests = std::vector<ValueDigest>;  // of a rank, in the order in which it shows them

// Of ranks stage · workers + worker.
struct StoredNames {
  std::set<std::string> joined;  // vectors that are stored as whole ones
  std::set<std::string> common;  // of the stored names, those whose value is that of every worker
  // By rank: under which name a value that is not joined is stored. None: elsewhere.
  std::vector<std::map<std::string, std::string>> own;
};
StoredNames stored_names(const std::vector<ValueDigests>& tables, const StagePlan* plan);

// One value that a rank takes from a checkpoint's payload.
struct TakenValue {
  std::string name;
  StateKind kind;
  std::size_t offset = 0, size = 0;  // bytes of the payload
};
// What a rank takes that holds stage `stage` of `plan` and begins with the state of `worker`; no
// plan: the whole model.
std::vector<TakenValue> taken_values(const CheckpointIndex& index, int worker,
                                     const StagePlan* plan, int stage);
// Is there anything that only that stage has?
bool has_values_of(const CheckpointIndex& index, int stage);

}  // namespace lockstep
