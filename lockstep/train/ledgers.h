// Where workers' time went: each one's own account, and those of all put together.
#pragma once

#include <vector>

#include "lockstep/sync/strategy.h"

namespace lockstep {

// Of one worker rank, over all sittings.
struct WorkerLedger {
  double steps = 0;
  double loading = 0;    // seconds, waiting for batches
  double computing = 0;  // forward and backward
  double forward = 0;    // of it; 0 where the model cannot tell
  double updating = 0;   // parameters, by the optimizer or otherwise
  double waiting = 0;
  double idling = 0;  // waiting for other stages of the same model
  double communicating = 0;
  double sent = 0, received = 0;  // bytes
  double rounds = 0;
  double encoding = 0, decoding = 0;  // seconds
  double beside = 0;                  // of these two, by a companion
  double hidden = 0;                  // seconds that a companion averaged while the worker went on
  double passed = 0;                  // bytes to other stages of the same model, not in `sent`
  double plain = 0;                   // bytes that would have been sent without compression

  void add(const Traffic& now, const Traffic& before);  // what came between
  void state(StateVisitor& visitor);
};

// Collective; the same on all.
std::vector<WorkerLedger> gather_ledgers(Group& group, const WorkerLedger& mine);
// Of all together.
WorkerLedger sum_of(const std::vector<WorkerLedger>& ledgers);
// Of forward and backward and of waiting during them, the part that was waiting.
double idle_share(const std::vector<WorkerLedger>& ledgers);
StalenessRecord sum_over(Group& group, const StalenessRecord& mine);

}  // namespace lockstep
