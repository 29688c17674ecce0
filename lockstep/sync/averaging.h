// Who averages: an all-reduce among the members, or the parameter server.
#pragma once

#include <cstdint>
#include <span>

#include "lockstep/collective/all_reduce.h"
#include "lockstep/server/server_client.h"

namespace lockstep {

// What one member sends, receives and goes through for an average.
struct AverageCost {
  std::uint64_t sent = 0, received = 0;
  std::uint64_t rounds = 0;
};

class Averaging {
 public:
  virtual ~Averaging() = default;
  // Collective. The mean over the members, the same bits on all of them.
  virtual void run(Group& group, std::span<float> values) = 0;
  virtual AverageCost cost(Group& group, std::size_t n) const = 0;
};

class AllReduceAveraging : public Averaging {
 public:
  explicit AllReduceAveraging(const AllReduce& algorithm) : algorithm_(algorithm) {}
  void run(Group& group, std::span<float> values) override;
  AverageCost cost(Group& group, std::size_t n) const override;

 private:
  const AllReduce& algorithm_;
};

// Vectors as long as the parameters go through the server; shorter ones, such as running
// statistics, through the all-reduce.
class ServerAveraging : public Averaging {
 public:
  ServerAveraging(ServerClient& server, const AllReduce& others)
      : server_(server), others_(others) {}
  void run(Group& group, std::span<float> values) override;
  AverageCost cost(Group& group, std::size_t n) const override;

 private:
  bool fits(std::size_t n) const { return n == server_.map().size(); }
  ServerClient& server_;
  AllReduceAveraging others_;
};

}  // namespace lockstep
