// All-reduce: every member starts with a vector of n floats and ends with their element-wise
// reduction, the same bits on all members and on every run.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "lockstep/base/registry.h"
#include "lockstep/collective/group.h"
#include "lockstep/collective/reduce_op.h"

namespace lockstep {

struct Cost {
  int steps = 0;               // rounds of messages, one after the other
  std::size_t bytes_most = 0;  // sent by the member that sends most
  std::size_t bytes_all = 0;   // sent by all members together
  bool operator==(const Cost&) const = default;
};

// Adds up who sends how much; algorithms made of others hand it on.
class Tally {
 public:
  explicit Tally(int ranks) : sent_(static_cast<std::size_t>(ranks)) {}
  void send(int member, std::size_t floats) { sent_[static_cast<std::size_t>(member)] += floats; }
  void steps(int count) { steps_ += count; }
  Cost cost() const;
  std::size_t bytes_of(int member) const {
    return sent_[static_cast<std::size_t>(member)] * sizeof(float);
  }

 private:
  std::vector<std::size_t> sent_;
  int steps_ = 0;
};

class AllReduce {
 public:
  virtual ~AllReduce() = default;

  // Collective: every member calls it with vectors of one length.
  void run(Group& group, std::span<float> data, ReduceOp op) const;

  // What run() sends on a transport without shared memory, pieces of a message taken as one.
  Cost cost(int ranks, std::size_t n) const { return tally_of(ranks, n).cost(); }
  // The same by member. Values go out by the way they came in, so a member receives what it sends.
  Tally tally_of(int ranks, std::size_t n) const;

  // Collective. Those that must measure before they can choose do it here, once, before the first
  // run(); the others do nothing.
  virtual void prepare(Group&) {}
  // What prepare() found, as a user reads it; empty if there was nothing to find.
  virtual std::string findings() const { return ""; }

  // Called by algorithms that are made of others; users call run().
  virtual void reduce(Group& group, std::span<float> data, const Reduction& reduction) const = 0;
  virtual void tally(Tally& tally, int ranks, std::size_t n) const = 0;

 protected:
  // "all-reduce ring": what error reports call it. Must live as long as the program.
  explicit AllReduce(const char* label) : label_(label) {}

 private:
  const char* label_;
};

template <>
Registry<AllReduce>& Registry<AllReduce>::instance();

}  // namespace lockstep
