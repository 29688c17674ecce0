#include "lockstep/server/shard_rule.h"

namespace lockstep {

CommError ShardRule::cannot_answer(const ServerHeader& header) {
  return CommError("worker {} asked the server for something it does not do (kind {})",
                   header.worker, header.kind);
}

}  // namespace lockstep
