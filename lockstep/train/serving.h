// A rank's part in the parameter server: the shard it holds, beside its training or instead of it,
// and, if it trains, its door to all shards.
//
// The server works in stretches. Between two of them, which all ranks begin and end together, every
// shard rests: then its state may be saved.
#pragma once

#include <memory>
#include <optional>

#include "lockstep/server/server_client.h"
#include "lockstep/train/job.h"

namespace lockstep {

// The order of arrivals of an earlier run, for every place where it counted.
using ArrivalRecord = std::vector<std::vector<int>>;

class Serving {
 public:
  // `replica` as training begins.
  Serving(Transport& transport, const Job& job, Replica& replica, const SyncStrategy& strategy);
  ~Serving();
  Serving(const Serving&) = delete;
  Serving& operator=(const Serving&) = delete;

  bool trains() const { return client_ != nullptr; }
  ServerClient& client() { return *client_; }

  // Workers: from here on shards answer. Ranks that only serve: serves until all workers rest.
  void start();
  // Workers: when all have called it, the shards rest.
  void rest();
  // Those noted at this rank's shard since the last call; empty where it holds none.
  std::vector<int> take_arrivals();
  void state(StateVisitor& visitor);

 private:
  Transport& transport_;
  std::unique_ptr<ServerClient> client_;
  std::unique_ptr<ShardServer> shard_;
  Task companion_;
};

}  // namespace lockstep
