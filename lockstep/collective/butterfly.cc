// Butterfly (Rabenseifner 2004): recursive halving reduces, recursive doubling hands out. With
// P = the largest power of two among M members: in halving step with distance d, members i and i^d
// split the range both are responsible for and each reduces one half; after log2 P steps member i
// holds one finished chunk. Doubling runs the same steps backwards. Members P … M−1 fold in first
// (send everything to member − P) and out last.
#include <bit>

#include "lockstep/collective/all_reduce.h"
#include "lockstep/collective/chunks.h"

namespace lockstep {
namespace {

// Chunks [first, last) of P that member i is responsible for when the distance has come down to d.
Range responsible(int member, int distance, std::size_t n, int p) {
  const int first = member / distance * distance;
  return chunks(n, p, first, first + distance);
}

class Butterfly : public AllReduce {
 public:
  Butterfly() : AllReduce("all-reduce butterfly") {}

  void reduce(Group& group, std::span<float> data, const Reduction& reduction) const override {
    const int m = group.size(), i = group.index();
    const int p = static_cast<int>(std::bit_floor(static_cast<unsigned>(m)));
    const int levels = std::countr_zero(static_cast<unsigned>(p));
    const auto part = [&](int member, int distance) {
      return slice(data, responsible(member, distance, data.size(), p));
    };

    if (m > p) group.step("fold in", 0, 1);
    if (i >= p) {
      group.send(i - p, data).wait();
      group.step("fold out", 0, 1);
      group.receive(i - p, data);
      return;
    }
    if (i + p < m) group.combine_from(i + p, data, reduction.op);

    for (int level = 0, d = p / 2; d >= 1; d /= 2, ++level) {
      group.step("halving", level, levels);
      const int partner = i ^ d;
      Outgoing sending = group.send(partner, part(partner, d));
      group.combine_from(partner, part(i, d), reduction.op);
      sending.wait();
    }
    finish(reduction, part(i, 1));
    for (int level = 0, d = 1; d < p; d *= 2, ++level) {
      group.step("doubling", level, levels);
      const int partner = i ^ d;
      Outgoing sending = group.send(partner, part(i, d));
      group.receive(partner, part(partner, d));
      sending.wait();
    }

    if (m > p) group.step("fold out", 0, 1);
    if (i + p < m) group.send(i + p, data).wait();
  }

  void tally(Tally& tally, int ranks, std::size_t n) const override {
    const int p = static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)));
    tally.steps(2 * std::countr_zero(static_cast<unsigned>(p)) + (ranks > p ? 2 : 0));
    for (int i = 0; i < p; ++i) {
      for (int d = p / 2; d >= 1; d /= 2) {
        tally.send(i, responsible(i ^ d, d, n, p).size + responsible(i, d, n, p).size);
      }
      if (i + p < ranks) {
        tally.send(i, n);
        tally.send(i + p, n);
      }
    }
  }
};

const Registration<AllReduce> kButterfly{
    "butterfly",
    "Recursive halving reduces, recursive doubling hands out; few steps and little data.",
    {},
    [](const Options&) { return std::make_unique<Butterfly>(); }};

}  // namespace
}  // namespace lockstep
