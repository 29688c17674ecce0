// Decentralised parallel SGD (D-PSGD; Lian et al. 2017): workers stand on a fixed graph and talk to
// their neighbours only. After each step a worker's model becomes the mean of its own and those it
// hears,
//
//   x_i ← (x_i + Σ_j x_j) / (1 + neighbours),   j a neighbour of i
//
// which leaves the average over all workers, the model, as it is, and draws everybody towards it.
// A step costs one round of messages whatever the number of workers; news need as many steps as the
// graph is wide. Sums run in the order of the workers, so the bits are the same on every world.
#include <algorithm>
#include <vector>

#include "lockstep/collective/reduce_op.h"
#include "lockstep/sync/graph.h"
#include "lockstep/sync/model_message.h"
#include "lockstep/sync/strategy.h"

namespace lockstep {
namespace {

constexpr Tag kNeighboursTag = 96;

class Neighbours : public SyncStrategy {
 public:
  explicit Neighbours(Graph graph) : graph_(graph) {}

  SyncTraits traits() const override { return {.server = false}; }

  void prepare(const SyncSetup& setup) override {
    const int me = setup.communicator.index(), workers = setup.communicator.size();
    hearers_ = hearers(graph_, me, workers);
    parts_ = graph_(me, workers);
    own_ = static_cast<std::size_t>(std::ranges::lower_bound(parts_, me) - parts_.begin());
    parts_.insert(parts_.begin() + static_cast<std::ptrdiff_t>(own_), me);
    for (std::size_t i = 0; i < parts_.size(); ++i) models_.emplace_back(setup.replica);
  }

  void step(SyncStep& step) override {
    take_step(step);
    exchange(step);
    mean_into(step.replica);
    consistent_ = step.meeting;
    together_ = false;
  }

  void finish(SyncStep& last) override {
    show_model(last);
    together_ = true;
  }
  bool consistent_now() const override { return consistent_; }
  void show_model(SyncStep& step) override {
    if (!together_) average_model(step.replica, step.communicator);
  }
  void state(StateVisitor&) override {}  // nothing is left over between two steps

 private:
  void exchange(SyncStep& step) {
    Group& group = step.communicator.group();
    Transport& transport = group.transport();
    const Operation operation(transport, "models of neighbours");
    const double began = transport.now();
    std::vector<Request> receiving(parts_.size()), sending;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (i == own_) continue;
      receiving[i] = transport.irecv(group.rank(parts_[i]), kNeighboursTag, models_[i].room());
    }
    const auto bytes = models_[own_].write(step.replica, 1, began);
    for (const int hearer : hearers_) {
      sending.push_back(transport.isend(group.rank(hearer), kNeighboursTag, bytes));
    }
    double latest = began;  // when the last of them began to send
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (i == own_) continue;
      transport.wait(receiving[i]);
      models_[i].check(receiving[i]);
      latest = std::max(latest, models_[i].sent_at());
    }
    for (Request& request : sending) transport.wait(request);

    const double took = transport.now() - began, waited = std::min(latest - began, took);
    step.communicator.account() += {.sent = bytes.size() * hearers_.size(),
                                    .received = bytes.size() * (parts_.size() - 1),
                                    .rounds = hearers_.empty() ? 0u : 1u,
                                    .waiting = waited,
                                    .communicating = took - waited};
  }

  void mean_into(Replica& replica) {
    const auto mean = Reduction::over(ReduceOp::kMean, static_cast<int>(parts_.size()));
    const auto params = replica.params(), buffers = replica.buffers();
    std::ranges::copy(models_.front().params(), params.begin());
    std::ranges::copy(models_.front().buffers(), buffers.begin());
    for (std::size_t i = 1; i < models_.size(); ++i) {
      combine(ReduceOp::kSum, params, models_[i].params());
      combine(ReduceOp::kSum, buffers, models_[i].buffers());
    }
    lockstep::finish(mean, params);
    lockstep::finish(mean, buffers);
    replica.apply_update();
  }

  Graph graph_;
  std::vector<int> hearers_;
  std::vector<int> parts_;            // of the mean: those it hears and itself, in order
  std::vector<ModelMessage> models_;  // of parts_
  std::size_t own_ = 0;               // its place among them
  bool consistent_ = false;
  bool together_ = false;  // has finish() made all models one?
};

OptionSet neighbours_options() {
  OptionSet options;
  options.text("graph", "ring", "who hears whom").one_of(graph_names());
  return options;
}

const Registration<SyncStrategy> kNeighbours{
    "neighbours", "Workers average with their neighbours on a fixed graph after every step.",
    neighbours_options(), [](const Options& options) {
      return std::make_unique<Neighbours>(graph_named(options.text("graph")));
    }};

}  // namespace
}  // namespace lockstep
