// Ring all-reduce (Patarasu & Yuan 2009; Gibiansky 2017): bandwidth-optimal, each member sends
// 2n(M−1)/M floats however many there are; its price is 2(M−1) steps.
#include "lockstep/collective/ring.h"

namespace lockstep {
namespace {

int wrap(int index, int count) {
  return ((index % count) + count) % count;
}

}  // namespace

int ring_chunk_of(int member, int ranks) {
  return wrap(member + 1, ranks);
}

void ring_share_reduce(Group& group, std::span<float> data, const Reduction& reduction, int shift,
                       const char* phase) {
  const int m = group.size(), p = group.index();
  const int next = wrap(p + 1, m), previous = wrap(p - 1, m);
  const auto chunk_at = [&](int i) {
    return slice(data, chunk(data.size(), m, wrap(i + shift, m)));
  };
  for (int s = 0; s < m - 1; ++s) {
    group.step(phase, s, m - 1);
    Outgoing sending = group.send(next, chunk_at(p - s));
    group.combine_from(previous, chunk_at(p - s - 1), reduction.op);
    sending.wait();
  }
  finish(reduction, chunk_at(p + 1));
}

void ring_share_only(Group& group, std::span<float> data, const char* phase) {
  const int m = group.size(), p = group.index();
  const int next = wrap(p + 1, m), previous = wrap(p - 1, m);
  const auto chunk_at = [&](int i) { return slice(data, chunk(data.size(), m, wrap(i, m))); };
  for (int s = 0; s < m - 1; ++s) {
    group.step(phase, s, m - 1);
    Outgoing sending = group.send(next, chunk_at(p + 1 - s));
    group.receive(previous, chunk_at(p - s));
    sending.wait();
  }
}

// Every chunk but one: the chunk it ends up with, or the one before.
std::size_t ring_share_reduce_sends(int member, int ranks, std::size_t n) {
  return n - chunk(n, ranks, ring_chunk_of(member, ranks)).size;
}
std::size_t ring_share_only_sends(int member, int ranks, std::size_t n) {
  return n - chunk(n, ranks, wrap(member + 2, ranks)).size;
}

namespace {

class Ring : public AllReduce {
 public:
  Ring() : AllReduce("all-reduce ring") {}

  void reduce(Group& group, std::span<float> data, const Reduction& reduction) const override {
    ring_share_reduce(group, data, reduction);
    ring_share_only(group, data);
  }

  void tally(Tally& tally, int ranks, std::size_t n) const override {
    tally.steps(2 * (ranks - 1));
    for (int p = 0; p < ranks; ++p) {
      tally.send(p, ring_share_reduce_sends(p, ranks, n) + ring_share_only_sends(p, ranks, n));
    }
  }
};

const Registration<AllReduce> kRing{
    "ring",
    "Chunks go round a circle twice, reduced on the first round and handed out on the second.",
    {},
    [](const Options&) { return std::make_unique<Ring>(); }};

}  // namespace
}  // namespace lockstep
