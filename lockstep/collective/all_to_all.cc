// All-to-all: everybody sends its whole vector to everybody and reduces what it gets, in the order
// of the members, so that all compute the same bits. One step, but n(M−1) floats from each.
#include "lockstep/base/aligned.h"
#include "lockstep/collective/all_reduce.h"

namespace lockstep {
namespace {

class AllToAll : public AllReduce {
 public:
  AllToAll() : AllReduce("all-reduce all-to-all") {}

  void reduce(Group& group, std::span<float> data, const Reduction& reduction) const override {
    group.step("exchange", 0, 1);
    Outgoing sending;
    for (int k = 1; k < group.size(); ++k) {
      sending.join(group.send((group.index() + k) % group.size(), data));
    }
    // The others read `data` while this one reduces, so the sum is built beside it.
    const auto sum = group.scratch(data.size());
    group.combine_in_order(sum, data, reduction.op);
    finish(reduction, sum);
    sending.wait();
    std::copy(sum.begin(), sum.end(), data.begin());
  }

  void tally(Tally& tally, int ranks, std::size_t n) const override {
    tally.steps(1);
    for (int p = 0; p < ranks; ++p) tally.send(p, n * static_cast<std::size_t>(ranks - 1));
  }
};

const Registration<AllReduce> kAllToAll{
    "all-to-all",
    "Everybody sends its whole vector to everybody and reduces locally.",
    {},
    [](const Options&) { return std::make_unique<AllToAll>(); }};

}  // namespace
}  // namespace lockstep
