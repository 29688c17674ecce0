// Round-robin (Zhao & Canny, arXiv:1312.3020): member j owns chunk j. In round k member i sends
// chunk i+k to its owner, who reduces it; then in M−1 rounds the owners hand their finished chunks
// out. Everybody talks to everybody, but each round to a different partner.
#include "lockstep/collective/all_reduce.h"
#include "lockstep/collective/chunks.h"

namespace lockstep {
namespace {

class RoundRobin : public AllReduce {
 public:
  RoundRobin() : AllReduce("all-reduce round-robin") {}

  void reduce(Group& group, std::span<float> data, const Reduction& reduction) const override {
    const int m = group.size(), i = group.index();
    const auto chunk_of = [&](int member) { return slice(data, chunk(data.size(), m, member)); };
    for (int k = 1; k < m; ++k) {
      group.step("reduce at the owner", k - 1, m - 1);
      const int to = (i + k) % m, from = (i - k + m) % m;
      Outgoing sending = group.send(to, chunk_of(to));
      group.combine_from(from, chunk_of(i), reduction.op);
      sending.wait();
    }
    finish(reduction, chunk_of(i));
    for (int k = 1; k < m; ++k) {
      group.step("hand out", k - 1, m - 1);
      const int to = (i + k) % m, from = (i - k + m) % m;
      Outgoing sending = group.send(to, chunk_of(i));
      group.receive(from, chunk_of(from));
      sending.wait();
    }
  }

  void tally(Tally& tally, int ranks, std::size_t n) const override {
    tally.steps(2 * (ranks - 1));
    for (int p = 0; p < ranks; ++p) {
      const std::size_t own = chunk(n, ranks, p).size;
      tally.send(p, n - own + own * static_cast<std::size_t>(ranks - 1));
    }
  }
};

const Registration<AllReduce> kRoundRobin{
    "round-robin",
    "Each chunk has an owner that reduces it; every round each member talks to another one.",
    {},
    [](const Options&) { return std::make_unique<RoundRobin>(); }};

}  // namespace
}  // namespace lockstep
