// Batches made ahead of time by a companion of the rank, so that a step finds its batch ready.
//
// Two batches take turns: one in use, one being made. The companion makes the first two, then one
// more for every order; each order frees the batch that was in use before. Rank and companion talk
// by empty messages of the rank to itself, as waiting belongs to the transport:
//
//   rank       next ──────── next ── order ─── next ── order ─── …
//   companion  fill 0 ready, fill 1 ready,  (order) fill 2 ready, …
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "lockstep/data/batch.h"
#include "lockstep/transport/transport.h"

namespace lockstep {

class Prefetcher {
 public:
  // Fills the batch of a step; called on the companion, for first, first+1, …, end−1 in order.
  // After it has thrown it is called no more.
  using Fill = std::function<void(std::int64_t step, Batch& batch)>;

  // `tag` and tag+1 must be nobody else's while the prefetcher lives.
  Prefetcher(Transport& transport, Tag tag, std::int64_t first, std::int64_t end, Fill fill);
  ~Prefetcher();  // may come before all batches were taken
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;

  // The next batch, valid until the next call. Throws what `fill` threw, as it is.
  Batch& next();
  // Seconds that next() has waited so far.
  double waited() const;

 private:
  class Shared;
  std::unique_ptr<Shared> shared_;
};

}  // namespace lockstep
