// Asynchronous SGD (Dean et al. 2012, Downpour): nobody waits for anybody. A worker pushes its
// gradient to the parameter server, which updates at once, w ← w − η·g, and takes home what the
// parameters are by then. As M such updates come where a synchronous run has one with the mean of
// their gradients, each takes 1/M of the rate unless told otherwise. Meanwhile others have pushed
// too: a gradient's staleness is the number of updates that its shard has applied since the worker
// took the parameters it was made from.
//
// Workers share the work: the first shard hands out tickets, one a step of one worker, until there
// are none left before the next meeting. A slow worker takes fewer of them.
#include "lockstep/base/aligned.h"
#include "lockstep/sync/served.h"

namespace lockstep {
namespace {

constexpr std::uint32_t kPull = ServedStrategy::kPull;
constexpr std::uint32_t kPush = ServedStrategy::kFirstKind;
constexpr std::uint32_t kClaim = kPush + 1;
constexpr std::uint32_t kClose = kPush + 2;
constexpr std::int64_t kNoTicket = -1;

enum class Damping { kNone, kWorkers, kStaleness };

struct AsynchronousOptions {
  std::int64_t max_staleness = -1;
  Damping damping = Damping::kWorkers;
};

class AsynchronousRule : public ShardRule {
 public:
  AsynchronousRule(ShardSetup setup, AsynchronousOptions options)
      : params_(setup.params.begin(), setup.params.end()),
        layers_(setup.layers.size()),
        optimizer_(std::move(setup.optimizer)),
        options_(options),
        taken_(static_cast<std::size_t>(setup.workers)) {}

  void handle(const ServerHeader& header, std::span<const float> values,
              const Answer& answer) override {
    if (header.kind < kPull || header.kind > kClose) throw cannot_answer(header);
    std::int64_t& taken = taken_[static_cast<std::size_t>(header.worker)];
    ServerHeader reply{.kind = header.kind, .epoch = header.epoch};
    if (header.kind == kPush) reply.form = Form::kDifference;
    if (header.kind == kPush) {
      if (values.size() != params_.size()) {
        throw CommError("worker {} pushed {} values to a shard of {}", header.worker, values.size(),
                        params_.size());
      }
      reply.staleness = version_ - taken;
      reply.rejected = options_.max_staleness >= 0 && reply.staleness > options_.max_staleness;
      if (!reply.rejected) apply(header.rates(), reply.staleness, values);
    }
    if (header.kind == kClose) closing_ = true;
    const bool wants = header.kind == kPush || header.kind == kClaim;
    const bool more = !closing_ && tickets_ < header.limit;
    reply.clock = wants && more ? tickets_++ : kNoTicket;
    reply.limit = tickets_;
    reply.version = version_;
    const bool brings = header.kind == kPush || header.kind == kPull;
    if (brings) taken = version_;
    answer(header.worker, reply, brings ? std::span<const float>(params_) : std::span<float>());
  }

  void state(StateVisitor& visitor) override {
    visitor.floats("params", params_);
    visitor.integer("version", version_);
    visitor.integer("tickets", tickets_);
    for (std::int64_t& taken : taken_) taken = version_;  // all meet before a state is taken
    StateScope optim(visitor, "optim");
    optimizer_->state(optim);
  }

 private:
  void apply(Rates rates, std::int64_t staleness, std::span<const float> gradient) {
    if (options_.damping == Damping::kWorkers) rates.lr /= static_cast<double>(taken_.size());
    if (options_.damping == Damping::kStaleness) rates.lr /= static_cast<double>(staleness + 1);
    optimizer_->update(version_++, rates, params_, gradient, 0, layers_);
  }

  AlignedVector<float> params_;
  std::size_t layers_;
  std::unique_ptr<Optimizer> optimizer_;
  AsynchronousOptions options_;
  std::int64_t version_ = 0;         // updates applied; shards differ while pushes are under way
  std::vector<std::int64_t> taken_;  // by worker: the version that it has
  std::int64_t tickets_ = 0;         // handed out; of the first shard only
  bool closing_ = false;
};

class Asynchronous : public ServedStrategy {
 public:
  explicit Asynchronous(AsynchronousOptions options) : options_(options) {}

  SyncTraits traits() const override {
    return {.all_reduce = false, .averages = false, .in_step = false, .by_step = false};
  }

  Turn next(std::int64_t /*done*/, std::int64_t until) override {
    limit_ = until * workers();
    if (!asked_) keep(server().ask_one(0, {.kind = kClaim, .limit = limit_}));
    if (ticket_ != kNoTicket) return {true, ticket_ / workers()};
    asked_ = false;
    meet();
    return {false, handed_out_ / workers()};
  }
  void close() override { server().ask_one(0, {.kind = kClose}); }

  void step(SyncStep& step) override { keep(push(step, {.kind = kPush, .limit = limit_})); }
  void finish(SyncStep&) override { meet(); }

  std::unique_ptr<ShardRule> shard_rule(ShardSetup setup) const override {
    return std::make_unique<AsynchronousRule>(std::move(setup), options_);
  }

 private:
  void keep(const ServerHeader& answer) {
    ticket_ = answer.clock;
    handed_out_ = answer.limit;
    asked_ = true;
  }

  AsynchronousOptions options_;
  std::int64_t ticket_ = kNoTicket, handed_out_ = 0, limit_ = 0;
  bool asked_ = false;  // is ticket_ an answer of this stretch?
};

OptionSet asynchronous_options() {
  OptionSet options;
  options
      .integer("max_staleness", -1,
               "pushes made from parameters that are older are rejected and counted; -1: none")
      .at_least(-1);
  options
      .text("damping", "workers",
            "what divides the rate: the number of workers, a push's staleness + 1, or nothing")
      .one_of({"workers", "staleness", "none"});
  return options;
}

Damping damping_of(const std::string& text) {
  if (text == "workers") return Damping::kWorkers;
  return text == "staleness" ? Damping::kStaleness : Damping::kNone;
}

const Registration<SyncStrategy> kAsynchronous{
    "asynchronous", "Every gradient updates the server at once; nobody waits.",
    asynchronous_options(), [](const Options& options) {
      return std::make_unique<Asynchronous>(AsynchronousOptions{
          options.integer("max_staleness"), damping_of(options.text("damping"))});
    }};

}  // namespace
}  // namespace lockstep
