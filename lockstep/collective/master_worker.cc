// Master-worker: the workers send their vectors to member 0, which reduces them in the order of
// the members and sends the result back. Simple, and 2n(M−1) floats through one node.
#include "lockstep/collective/all_reduce.h"
#include "lockstep/collective/chunks.h"

namespace lockstep {
namespace {

class MasterWorker : public AllReduce {
 public:
  MasterWorker() : AllReduce("all-reduce master-worker") {}

  void reduce(Group& group, std::span<float> data, const Reduction& reduction) const override {
    if (group.index() != 0) {
      group.step("gather at the master", 0, 1);
      group.send(0, data).wait();
      group.step("send back", 0, 1);
      group.receive(0, data);
      return;
    }
    // A finished piece goes back while the next ones still arrive.
    Outgoing sending;
    for (std::size_t at = 0; at < data.size(); at += group.piece()) {
      const auto piece = data.subspan(at, std::min(group.piece(), data.size() - at));
      group.step("gather at the master", 0, 1);
      for (int i = 1; i < group.size(); ++i) group.combine_from(i, piece, reduction.op);
      finish(reduction, piece);
      group.step("send back", 0, 1);
      for (int i = 1; i < group.size(); ++i) sending.join(group.send(i, piece));
    }
    sending.wait();
  }

  void tally(Tally& tally, int ranks, std::size_t n) const override {
    tally.steps(2);
    tally.send(0, n * static_cast<std::size_t>(ranks - 1));
    for (int p = 1; p < ranks; ++p) tally.send(p, n);
  }
};

const Registration<AllReduce> kMasterWorker{
    "master-worker",
    "Member 0 gathers all vectors, reduces them and sends the result back.",
    {},
    [](const Options&) { return std::make_unique<MasterWorker>(); }};

}  // namespace
}  // namespace lockstep
