// What every rank did during an all-reduce, step by step, gathered into one account.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lockstep/collective/all_reduce.h"

namespace lockstep {

using Values = std::vector<float>;

struct TracedMessage {
  int from = 0;
  int to = 0;
  int offset = -1;  // in the sender's vector; −1: from elsewhere
  Values sent;
  bool combined = false;  // or replaced
  Values before, after;   // what it met at the receiver; empty if that is not in its vector
};

struct TracedStep {
  std::string phase;
  int index = 0, count = 0;
  std::vector<TracedMessage> messages;
  std::vector<Values> vectors;  // of all ranks, after the step
};

using AllReduceFactory = std::function<std::unique_ptr<AllReduce>()>;

// Runs the algorithm, one object a rank, on threads that only send messages. `vectors` has one row
// a rank. `findings` gets what prepare() found.
std::vector<TracedStep> trace_all_reduce(const AllReduceFactory& make, ReduceOp op,
                                         const std::vector<Values>& vectors, std::string& findings);

}  // namespace lockstep
