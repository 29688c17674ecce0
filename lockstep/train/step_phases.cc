#include "lockstep/train/step_phases.h"

#include <algorithm>

namespace lockstep {

std::vector<WorkerLedger> ledgers_of(const Json& summary) {
  std::vector<WorkerLedger> ledgers;
  for (const Json& one : summary.at("by_worker")) {
    ledgers.push_back({.steps = one.at("steps"),
                       .loading = one.at("loading"),
                       .computing = one.at("computing"),
                       .forward = one.at("forward"),
                       .updating = one.at("updating"),
                       .waiting = one.at("waiting"),
                       .idling = one.value("idling", 0.0),
                       .communicating = one.at("communicating"),
                       .encoding = one.at("encoding"),
                       .decoding = one.at("decoding"),
                       .beside = one.at("coding_beside"),
                       .hidden = one.at("hidden")});
  }
  return ledgers;
}

std::vector<StepPhase> step_phases(const WorkerLedger& all) {
  const double steps = std::max(1.0, all.steps);
  const double coding = all.encoding + all.decoding;
  const double own = coding > 0 ? (coding - all.beside) / coding : 0;
  return {{"load", all.loading / steps},
          {"forward", all.forward / steps},
          {"backward", (all.computing - all.forward) / steps},
          {"encode", own * all.encoding / steps},
          {"wire", all.communicating / steps},
          {"idle", all.idling / steps},
          {"wait", all.waiting / steps},
          {"decode", own * all.decoding / steps},
          {"update", all.updating / steps}};
}

}  // namespace lockstep
