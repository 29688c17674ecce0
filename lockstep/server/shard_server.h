// A server shard at work: takes messages from anybody, one after the other, and lets its rule
// answer. Runs as a companion of a worker or as the whole life of a rank that does not train.
#pragma once

#include <memory>
#include <vector>

#include "lockstep/server/arrivals.h"
#include "lockstep/server/shard_lines.h"
#include "lockstep/server/shard_rule.h"
#include "lockstep/transport/transport.h"

namespace lockstep {

inline constexpr Tag kServerTag = 64;  // requests; answers have the next one

class ShardServer {
 public:
  // `size` floats; the workers are the ranks 0 … workers−1.
  ShardServer(std::unique_ptr<ShardRule> rule, std::size_t size, int workers, Arrivals arrivals,
              const ShardCompression* compression = nullptr);

  // Until every worker has left once.
  void serve(Transport& transport);

  // Between two calls of serve(), or while no worker has a request under way.
  Arrivals& arrivals() { return arrivals_; }
  void state(StateVisitor& visitor);

 private:
  struct Line;  // to one worker
  class Answers;
  std::unique_ptr<ShardRule> rule_;
  std::size_t size_;
  int workers_;
  Arrivals arrivals_;
  ShardLines lines_;
};

}  // namespace lockstep
