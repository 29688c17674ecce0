// Stale-synchronous parallel (Ho et al. 2013): every worker has a clock, its steps done, and none
// may be more than s ahead of the slowest. What a worker reads at clock c holds
//
//   all updates of all workers up to clock c − s − 1   (the pre-window)
//   all of its own                                     (read-my-writes)
//   and whatever else has arrived                      (best effort)
//
// When all gradients of a clock are there, the server's optimizer takes the synchronous step with
// their mean, summed in the order of the workers: s = 0 is synchronous SGD to the bit, and what a
// shard's parameters become does not depend on who comes first. Gradients of clocks that are not
// complete yet show in a read as plain SGD steps, −η/M·g.
#include <map>

#include "lockstep/base/aligned.h"
#include "lockstep/collective/reduce_op.h"
#include "lockstep/sync/served.h"

namespace lockstep {
namespace {

constexpr std::uint32_t kPush = ServedStrategy::kFirstKind;

class StaleSynchronousRule : public ShardRule {
 public:
  StaleSynchronousRule(ShardSetup setup, std::int64_t bound)
      : params_(setup.params.begin(), setup.params.end()),
        read_(params_),
        layers_(setup.layers.size()),
        optimizer_(std::move(setup.optimizer)),
        bound_(bound),
        clocks_(static_cast<std::size_t>(setup.workers)),
        reads_(clocks_.size()) {}

  void handle(const ServerHeader& header, std::span<const float> values,
              const Answer& answer) override {
    const auto worker = static_cast<std::size_t>(header.worker);
    if (header.kind != kPush && header.kind != ServedStrategy::kPull) throw cannot_answer(header);
    if (header.kind == kPush) take(header, values);
    reads_[worker] = header.kind;
    for (std::size_t i = 0; i < reads_.size(); ++i) {
      // The slowest worker has done complete_ clocks, or more; nobody reads beyond its window.
      if (reads_[i] == 0 || complete_ < clocks_[i] - bound_) continue;
      answer(static_cast<int>(i),
             {.kind = reads_[i], .version = complete_, .staleness = clocks_[i] - complete_}, read_);
      reads_[i] = 0;
    }
  }

  void state(StateVisitor& visitor) override {
    visitor.floats("params", params_);
    visitor.integer("clock", complete_);
    for (std::int64_t& clock : clocks_) clock = complete_;  // all meet before a state is taken
    read_ = params_;
    StateScope optim(visitor, "optim");
    optimizer_->state(optim);
  }

 private:
  struct Clock {
    Rates rates;
    std::map<int, AlignedVector<float>> gradients;  // by worker
  };

  void take(const ServerHeader& header, std::span<const float> values) {
    std::int64_t& clock = clocks_[static_cast<std::size_t>(header.worker)];
    if (header.clock != clock || values.size() != params_.size()) {
      throw CommError("worker {} pushed clock {} to a shard that waits for {}", header.worker,
                      header.clock, clock);
    }
    Clock& pending = pending_[clock++];
    pending.rates = header.rates();
    pending.gradients[header.worker].assign(values.begin(), values.end());
    show(pending.rates, values);
    bool completed = false;
    for (; !pending_.empty() && pending_.begin()->second.gradients.size() == clocks_.size();
         completed = true) {
      complete(pending_.begin()->second);
      pending_.erase(pending_.begin());
    }
    if (!completed) return;
    read_ = params_;
    for (const auto& [at, open] : pending_) {
      for (const auto& [worker, gradient] : open.gradients) show(open.rates, gradient);
    }
  }

  void show(const Rates& rates, std::span<const float> gradient) {
    const auto rate = static_cast<float>(rates.lr / static_cast<double>(clocks_.size()));
    for (std::size_t i = 0; i < read_.size(); ++i) read_[i] -= rate * gradient[i];
  }

  void complete(Clock& clock) {
    auto& gradients = clock.gradients;
    AlignedVector<float> mean = std::move(gradients.begin()->second);
    for (auto next = std::next(gradients.begin()); next != gradients.end(); ++next) {
      combine(ReduceOp::kSum, mean, next->second);
    }
    lockstep::finish(Reduction::over(ReduceOp::kMean, static_cast<int>(gradients.size())), mean);
    optimizer_->update(complete_++, clock.rates, params_, mean, 0, layers_);
  }

  AlignedVector<float> params_;  // with all complete clocks and nothing else
  AlignedVector<float> read_;    // what a worker gets to see
  std::size_t layers_;
  std::unique_ptr<Optimizer> optimizer_;
  std::int64_t bound_;
  std::int64_t complete_ = 0;         // clocks that all workers have pushed
  std::vector<std::int64_t> clocks_;  // pushed, by worker
  std::vector<std::uint32_t> reads_;  // by worker: what waits for an answer, or 0
  std::map<std::int64_t, Clock> pending_;
};

class StaleSynchronous : public ServedStrategy {
 public:
  explicit StaleSynchronous(std::int64_t bound) : bound_(bound) {}

  SyncTraits traits() const override { return {.all_reduce = false, .averages = false}; }
  void step(SyncStep& step) override {
    push(step, {.kind = kPush, .clock = step.index});
    if (step.meeting) meet();
  }
  void finish(SyncStep&) override { meet(); }

  std::unique_ptr<ShardRule> shard_rule(ShardSetup setup) const override {
    return std::make_unique<StaleSynchronousRule>(std::move(setup), bound_);
  }

 private:
  std::int64_t bound_;
};

OptionSet stale_synchronous_options() {
  OptionSet options;
  options.integer("bound", 4, "s, how many steps a worker may be ahead of the slowest").at_least(0);
  return options;
}

const Registration<SyncStrategy> kStaleSynchronous{
    "stale-synchronous", "Workers may be a few steps ahead of the slowest, and no more.",
    stale_synchronous_options(), [](const Options& options) {
      return std::make_unique<StaleSynchronous>(options.integer("bound"));
    }};

}  // namespace
}  // namespace lockstep
