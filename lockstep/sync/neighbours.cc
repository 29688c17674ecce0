// Decentralised parallel SGD (D-PSGD; Lian et al. 2017): workers stand on a fixed graph and talk to
// their neighbours only. After each step a worker's model becomes the mean of its own and those it
// hears,
//
//   x_i ← (x_i + Σ_j x_j) / (1 + neighbours),   j a neighbour of i
//
// which leaves the average over all workers, the model, as it is, and draws everybody towards it.
// A step costs one round of messages whatever the number of workers; news need as many steps as the
// graph is wide. Sums run in the order of the workers, so the bits are the same on every world.
//
// With [compress] workers tell their neighbours differences (peer_models.h), and go from what these
// know of them towards what they know of these, as far as that is not lag (CHOCO-SGD, with a
// consensus rate of its own for each pair):
//
//   x_i ← x_i + Σ_j s_ij (x̂_j − x̂_i) / (1 + neighbours)
//
// s is the same on both ends, which again leaves the average as it is.
#include <algorithm>
#include <vector>

#include "lockstep/collective/reduce_op.h"
#include "lockstep/sync/graph.h"
#include "lockstep/sync/model_message.h"
#include "lockstep/sync/peer_models.h"
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
    if (setup.compression != nullptr) {
      if (graph_(me, workers) != hearers_) {
        throw ConfigError(
            "[sync] graph: on this one some hear others who do not hear them, and [compress] would "
            "not keep the average; choose ring or torus");
      }
      peers_ = std::make_unique<PeerModels>(*setup.compression, setup.replica, setup.seed, me);
    }
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      models_.emplace_back(setup.replica, peers_ != nullptr);
    }
  }

  void step(SyncStep& step) override {
    take_step(step);
    exchange(step);
    if (peers_) {
      Transport& transport = step.communicator.group().transport();
      const double began = transport.now();
      approach(step.replica);
      step.communicator.account().decoding += transport.now() - began;
    } else {
      mean_into(step.replica.params(), [](const ModelMessage& model) { return model.params(); });
    }
    mean_into(step.replica.buffers(), [](const ModelMessage& model) { return model.buffers(); });
    step.replica.apply_update();
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
  void state(StateVisitor& visitor) override {
    if (peers_) peers_->state(visitor);  // else nothing is left over between two steps
  }

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
    const auto bytes = write(step, began);
    const double encoding = peers_ ? transport.now() - began : 0;
    for (const int hearer : hearers_) {
      sending.push_back(transport.isend(group.rank(hearer), kNeighboursTag, bytes));
    }
    std::uint64_t received = 0;
    double latest = began;  // when the last of them began to send
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (i == own_) continue;
      transport.wait(receiving[i]);
      models_[i].read(receiving[i]);
      received += models_[i].size();
      latest = std::max(latest, models_[i].about().now);
    }
    for (Request& request : sending) transport.wait(request);

    const double took = transport.now() - began - encoding;
    const double waited = std::min(latest - began, took);
    const std::uint64_t plain =
        step.replica.params().size_bytes() + step.replica.buffers().size_bytes();
    step.communicator.account() += {.sent = bytes.size() * hearers_.size(),
                                    .received = received,
                                    .rounds = hearers_.empty() ? 0u : 1u,
                                    .waiting = waited,
                                    .communicating = took - waited,
                                    .plain = plain * hearers_.size(),
                                    .encoding = encoding};
  }

  std::span<const std::byte> write(SyncStep& step, double now) {
    ModelMessage& own = models_[own_];
    about_.now = now;
    if (!peers_) return own.write(step.replica, about_);
    ModelStream& stream = peers_->to(PeerModels::kEverybody);
    bytes_.clear();
    about_.error = stream.encode(step.replica.params(), step.rates.epoch, bytes_);
    step.communicator.group().transport().charge(stream.encode_seconds());
    return own.write(step.replica, about_, bytes_.view());
  }

  void approach(Replica& replica) {
    const auto own = peers_->to(PeerModels::kEverybody).known();
    const auto params = replica.params();
    for (std::size_t j = 0; j < parts_.size(); ++j) {
      if (j == own_) continue;
      const auto theirs = peers_->take(parts_[j], models_[j].compressed());
      const double errors = about_.error + models_[j].about().error;
      const double share = share_of_way(errors, squared_distance(own, theirs));
      const auto factor = static_cast<float>(share / static_cast<double>(parts_.size()));
      for (std::size_t i = 0; i < params.size(); ++i) params[i] += factor * (theirs[i] - own[i]);
    }
  }

  // The mean of one part of the models, in the order of the workers.
  template <typename Part>
  void mean_into(std::span<float> mean, const Part& part) {
    std::ranges::copy(part(models_.front()), mean.begin());
    for (std::size_t i = 1; i < models_.size(); ++i) {
      combine(ReduceOp::kSum, mean, part(models_[i]));
    }
    lockstep::finish(Reduction::over(ReduceOp::kMean, static_cast<int>(parts_.size())), mean);
  }

  Graph graph_;
  std::vector<int> hearers_;
  std::vector<int> parts_;             // of the mean: those it hears and itself, in order
  std::vector<ModelMessage> models_;   // of parts_
  ModelMessage::About about_;          // the own one
  std::unique_ptr<PeerModels> peers_;  // with [compress]
  Bytes bytes_;
  std::size_t own_ = 0;  // its place among them
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
