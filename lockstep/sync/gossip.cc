// Gossip SGD (GoSGD; Blot et al. 2016): workers step alone, and what they know spreads as rumours
// do. After its step a worker, with probability p, picks another one, halves its weight a and sends
// its parameters with that half. Whoever has got (x', a') mixes them in before its next step,
//
//   x ← (a x + a' x') / (a + a'),   a ← a + a'
//
// This is push-sum (Kempe et al. 2003): weights add up to M, those under way included, and mixing
// leaves Σ a x as it is. The model is Σ a x / M. Senders and receivers never wait. Only where all
// meet, for a validation or a checkpoint, is what is still under way received (drained).
//
// With [compress] each pair of workers has a stream of differences (peer_models.h); of the way to
// what arrives only the share is gone that is not lag.
#include <algorithm>
#include <cstring>
#include <list>
#include <vector>

#include "lockstep/base/random.h"
#include "lockstep/collective/collectives.h"
#include "lockstep/sync/inbox.h"
#include "lockstep/sync/model_message.h"
#include "lockstep/sync/peer_models.h"
#include "lockstep/sync/strategy.h"

namespace lockstep {
namespace {

constexpr Tag kGossipTag = 80;

class Gossip : public SyncStrategy {
 public:
  explicit Gossip(double probability) : probability_(probability) {}

  SyncTraits traits() const override { return {.server = false, .inbox = true}; }

  void prepare(const SyncSetup& setup) override {
    replica_ = &setup.replica;
    communicator_ = &setup.communicator;
    transport_ = &setup.communicator.group().transport();
    seed_ = setup.seed;
    sent_.assign(static_cast<std::size_t>(setup.communicator.size()), 0);
    if (setup.compression != nullptr) {
      peers_ = std::make_unique<PeerModels>(*setup.compression, setup.replica, seed_, me());
    }
    message_ = std::make_unique<ModelMessage>(setup.replica, peers_ != nullptr);
    inbox_ = std::make_unique<Inbox>(*transport_, kGossipTag, setup.arrivals, message_->room());
  }

  void before(const SyncStep&, Batch&) override {
    while (inbox_->look()) mix();
    inbox_->end_look();
  }

  void step(SyncStep& step) override {
    take_step(step);
    tell_somebody(step.index, step.rates.epoch);
    consistent_ = step.meeting;
    together_ = false;
    if (step.meeting) drain();
  }

  void finish(SyncStep& last) override {
    drain();
    show_model(last);
    weight_ = 1;
    together_ = true;
  }

  bool consistent_now() const override { return consistent_; }

  void show_model(SyncStep& step) override {
    if (together_) return;
    const auto weight = static_cast<float>(weight_);
    for (const auto values : {step.replica.params(), step.replica.buffers()}) {
      for (float& value : values) value *= weight;
    }
    average_model(step.replica, step.communicator);
  }

  void state(StateVisitor& visitor) override {
    visitor.real("weight", weight_);
    if (peers_) peers_->state(visitor);
  }

 private:
  struct Rumour {  // one that may not have been heard yet
    Rumour(Replica& replica, bool compressed) : message(replica, compressed) {}
    ModelMessage message;
    Request sending;
  };

  int me() const { return communicator_->index(); }

  void mix() {
    message_->read(inbox_->arrived());
    const double weight = message_->about().weight;
    if (!(weight > 0 && weight <= communicator_->size())) {
      throw CommError("worker {} sent its model with weight {}", inbox_->arrived().peer(), weight);
    }
    weight_ += weight;
    const auto share = static_cast<float>(weight / weight_);
    if (peers_) {
      const double began = transport_->now();
      const auto model = peers_->take(inbox_->arrived().peer(), message_->compressed());
      towards(replica_->params(), model, share * model_share(model));
      communicator_->account().decoding += transport_->now() - began;
    } else {
      towards(replica_->params(), message_->params(), share);
    }
    towards(replica_->buffers(), message_->buffers(), share);
    replica_->apply_update();
    communicator_->account().received += message_->size();
    ++taken_;
    inbox_->done();
  }

  static void towards(std::span<float> own, std::span<const float> theirs, float share) {
    for (std::size_t i = 0; i < own.size(); ++i) own[i] += share * (theirs[i] - own[i]);
  }
  // Of the way to a model that came compressed.
  float model_share(std::span<const float> model) const {
    return static_cast<float>(
        share_of_way(message_->about().error, squared_distance(replica_->params(), model)));
  }

  void tell_somebody(std::int64_t step, double epoch) {
    const int workers = communicator_->size();
    Random random(seed_, "gossip", static_cast<std::uint64_t>(me()),
                  static_cast<std::uint64_t>(step));
    if (workers == 1 || random.uniform() >= probability_) return;
    const auto others = static_cast<std::uint64_t>(workers - 1);
    const int to = (me() + 1 + static_cast<int>(random.below(others))) % workers;
    const double began = transport_->now();
    weight_ /= 2;
    Rumour& rumour = free_rumour();
    const auto bytes = write(rumour.message, to, epoch, began);
    const double written = transport_->now();
    rumour.sending = transport_->isend(communicator_->group().rank(to), kGossipTag, bytes);
    ++sent_[static_cast<std::size_t>(to)];
    Traffic& account = communicator_->account();
    account.sent += bytes.size();
    account.plain += replica_->params().size_bytes() + replica_->buffers().size_bytes();
    account.rounds += 1;
    (peers_ ? account.encoding : account.communicating) += written - began;
    account.communicating += transport_->now() - written;
  }

  std::span<const std::byte> write(ModelMessage& message, int to, double epoch, double now) {
    ModelMessage::About about{.weight = weight_, .now = now};
    if (!peers_) return message.write(*replica_, about);
    ModelStream& stream = peers_->to(communicator_->group().rank(to));
    bytes_.clear();
    about.error = stream.encode(replica_->params(), epoch, bytes_);
    transport_->charge(stream.encode_seconds());
    return message.write(*replica_, about, bytes_.view());
  }

  Rumour& free_rumour() {
    for (Rumour& rumour : rumours_) {
      if (transport_->test(rumour.sending)) return rumour;
    }
    return rumours_.emplace_back(*replica_, peers_ != nullptr);
  }

  // Collective: everybody learns how much was sent to it since the last time and takes the rest.
  void drain() {
    const double began = transport_->now();
    std::int64_t coming = 0;
    for (const auto& theirs :
         all_gather_bytes(communicator_->group(), std::as_bytes(std::span(sent_)))) {
      if (theirs.size() != sent_.size() * sizeof(std::int64_t)) {
        throw CommError("a worker counts its messages to {} workers instead of {}",
                        theirs.size() / sizeof(std::int64_t), sent_.size());
      }
      std::int64_t count = 0;
      std::memcpy(&count, theirs.data() + static_cast<std::size_t>(me()) * sizeof count,
                  sizeof count);
      coming += count;
    }
    communicator_->account().waiting += transport_->now() - began;
    const double gathered = transport_->now();
    while (taken_ < coming) {
      inbox_->await();
      mix();
    }
    for (Rumour& rumour : rumours_) transport_->wait(rumour.sending);
    std::ranges::fill(sent_, 0);
    taken_ = 0;
    communicator_->account().communicating += transport_->now() - gathered;
  }

  double probability_;
  double weight_ = 1;
  Replica* replica_ = nullptr;
  Communicator* communicator_ = nullptr;
  Transport* transport_ = nullptr;
  std::uint64_t seed_ = 1;
  std::unique_ptr<PeerModels> peers_;  // with [compress]
  Bytes bytes_;
  std::unique_ptr<ModelMessage> message_;  // the one that comes in
  std::unique_ptr<Inbox> inbox_;
  std::list<Rumour> rumours_;
  std::vector<std::int64_t> sent_;  // since the last drain, by receiver
  std::int64_t taken_ = 0;          // since the last drain
  bool consistent_ = false;
  bool together_ = false;  // has finish() made all models one?
};

OptionSet gossip_options() {
  OptionSet options;
  options.real("probability", 0.3, "p, with which a worker sends its model to another after a step")
      .at_least(0)
      .at_most(1);
  return options;
}

const Registration<SyncStrategy> kGossip{
    "gossip", "Workers step alone and now and then send their model to another.", gossip_options(),
    [](const Options& options) { return std::make_unique<Gossip>(options.real("probability")); }};

}  // namespace
}  // namespace lockstep
