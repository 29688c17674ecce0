// Native: what the transport does best. Where all members see each other's memory, each reduces a
// slice straight from everybody's buffer and nothing is sent. Elsewhere each member owns a chunk:
// all parts of it are sent to the owner at once, who reduces them and sends the result to all. Of
// two members each takes the other's whole vector: as many bytes, in one step instead of two. All
// ways combine in the order of the members, so the bits are the same on every world.
#include "lockstep/base/aligned.h"
#include "lockstep/collective/all_reduce.h"
#include "lockstep/collective/chunks.h"
#include "lockstep/collective/shared_memory.h"

namespace lockstep {
namespace {

void direct_exchange(Group& group, std::span<float> data, const Reduction& reduction) {
  const int m = group.size(), me = group.index();
  const auto chunk_of = [&](int member) { return slice(data, chunk(data.size(), m, member)); };
  const auto own = chunk_of(me);

  group.step("to the owners", 0, 1);
  Outgoing sending;
  // Starting behind oneself spreads the first messages over all owners.
  for (int k = 1; k < m; ++k) {
    const int to = (me + k) % m;
    sending.join(group.send(to, chunk_of(to)));
  }
  // Others still read `own`, so the sum is built beside it.
  const auto sum = group.scratch(own.size());
  group.combine_in_order(sum, own, reduction.op);
  finish(reduction, sum);
  sending.wait();
  std::copy(sum.begin(), sum.end(), own.begin());

  group.step("to everybody", 0, 1);
  for (int k = 1; k < m; ++k) sending.join(group.send((me + k) % m, own));
  for (int k = 1; k < m; ++k) {
    const int from = (me - k + m) % m;
    group.receive(from, chunk_of(from));
  }
  sending.wait();
}

void mutual_exchange(Group& group, std::span<float> data, const Reduction& reduction) {
  group.step("to each other", 0, 1);
  Outgoing sending = group.send(1 - group.index(), data);
  const auto sum = group.scratch(data.size());
  group.combine_in_order(sum, data, reduction.op);
  finish(reduction, sum);
  sending.wait();
  std::copy(sum.begin(), sum.end(), data.begin());
}

class Native : public AllReduce {
 public:
  Native() : AllReduce("all-reduce native") {}

  void reduce(Group& group, std::span<float> data, const Reduction& reduction) const override {
    if (SharedSpace* space = group.shared()) {
      group.step("in shared memory", 0, 1);
      shared_all_reduce(*space, data, reduction);
    } else if (group.size() == 2) {
      mutual_exchange(group, data, reduction);
    } else {
      direct_exchange(group, data, reduction);
    }
  }

  void tally(Tally& tally, int ranks, std::size_t n) const override {
    tally.steps(ranks == 2 ? 1 : 2);
    for (int p = 0; p < ranks; ++p) {
      const std::size_t own = chunk(n, ranks, p).size;
      tally.send(p, n - own + own * static_cast<std::size_t>(ranks - 1));
    }
  }
};

const Registration<AllReduce> kNative{
    "native",
    "What the transport does best: in shared memory where there is any, direct exchange elsewhere.",
    {},
    [](const Options&) { return std::make_unique<Native>(); }};

}  // namespace
}  // namespace lockstep
