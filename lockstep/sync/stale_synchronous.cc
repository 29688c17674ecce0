// Stale-synchronous parallel (Ho et al. 2013): every worker has a clock, its steps done, and none
// may be more than s ahead of the slowest. What a worker reads at clock c holds
//
//   all updates of all workers up to clock c − s − 1   (the pre-window)
//   all of its own                                     (read-my-writes)
//   and whatever else has arrived                      (best effort; for s = 0 nothing)
//
// When all gradients of a clock are there, the server's optimizer takes the synchronous step with
// their mean, summed in the order of the workers: s = 0 is synchronous SGD to the bit, and what a
// shard's parameters become does not depend on who comes first. Clocks that are not complete yet
// show in a read as the same optimizer's steps with what has come of them: where few gradients are
// missing, a read is close to what it will have been.
//
// A worker that would have to wait for the slowest takes a step of it instead (FlexRR, Harlap et
// al. 2016): the slowest's batch of that step, read under the same promise. So a worker that is
// always slow does not hold up the others. The first shard keeps the list of who takes what
// (work_list.h).
#include <map>

#include "lockstep/base/aligned.h"
#include "lockstep/base/state_store.h"
#include "lockstep/collective/reduce_op.h"
#include "lockstep/sync/served.h"
#include "lockstep/sync/work_list.h"

namespace lockstep {
namespace {

constexpr std::uint32_t kPull = ServedStrategy::kPull;
constexpr std::uint32_t kPush = ServedStrategy::kFirstKind;
constexpr std::uint32_t kRead = kPush + 1;
constexpr std::uint32_t kClose = kPush + 2;
constexpr std::int64_t kNone = -1;

struct StaleSynchronousOptions {
  std::int64_t bound = 0;
  bool help = true;
};

class StaleSynchronousRule : public ShardRule {
 public:
  StaleSynchronousRule(ShardSetup setup, StaleSynchronousOptions options)
      : params_(setup.params.begin(), setup.params.end()),
        layers_(setup.layers.size()),
        optimizer_(std::move(setup.optimizer)),
        bound_(options.bound),
        first_(setup.shard == 0),
        work_(setup.workers, options.bound, options.help),
        reads_(static_cast<std::size_t>(setup.workers), kNone) {}

  void handle(const ServerHeader& header, std::span<const float> values,
              const Answer& answer) override {
    if (header.kind == kPush) {
      take(header, values);
      if (first_) work_.ask(header.worker, header.limit);
      if (!first_) answer(header.worker, {.kind = kPush}, {});
    } else if (header.kind == kRead) {
      reads_[static_cast<std::size_t>(header.worker)] = header.clock;
      epoch_ = header.epoch;
    } else if (header.kind == kPull) {
      answer(header.worker, {.kind = kPull, .version = complete_}, read());
    } else if (header.kind == kClose) {
      work_.close();
      answer(header.worker, {.kind = kClose}, {});
    } else {
      throw cannot_answer(header);
    }
    for (const WorkList::Given& given : work_.give(complete_)) {
      const std::int64_t clock = given.item ? given.item->clock : kNone;
      const std::int64_t owner = given.item ? given.item->owner : 0;
      answer(given.worker, {.kind = kPush, .clock = clock, .owner = owner, .limit = work_.limit()},
             {});
    }
    for (std::size_t i = 0; i < reads_.size(); ++i) {
      if (reads_[i] == kNone || complete_ < reads_[i] - bound_) continue;
      answer(static_cast<int>(i),
             {.kind = kRead,
              .form = Form::kDifference,
              .version = complete_,
              .staleness = reads_[i] - complete_,
              .epoch = epoch_},
             read());
      reads_[i] = kNone;
    }
  }

  void state(StateVisitor& visitor) override {
    visitor.floats("params", params_);
    visitor.integer("clock", complete_);
    work_.start(complete_);  // all meet before a state is taken
    StateScope optim(visitor, "optim");
    optimizer_->state(optim);
  }

 private:
  struct Clock {
    Rates rates;
    std::map<std::int64_t, AlignedVector<float>> gradients;  // by owner
    AlignedVector<float> sum;                                // of them, as they came
  };

  void take(const ServerHeader& header, std::span<const float> values) {
    const auto workers = static_cast<std::int64_t>(reads_.size());
    const bool known = header.clock >= complete_ && header.clock <= complete_ + bound_ &&
                       header.owner >= 0 && header.owner < workers;
    if (!known || values.size() != params_.size() ||
        pending_[header.clock].gradients.contains(header.owner)) {
      throw CommError("worker {} pushed {} values of worker {} at clock {} to a shard of {} at {}",
                      header.worker, values.size(), header.owner, header.clock, params_.size(),
                      complete_);
    }
    Clock& pending = pending_[header.clock];
    pending.rates = header.rates();
    pending.gradients[header.owner].assign(values.begin(), values.end());
    if (bound_ > 0) {  // else no read shows it
      pending.sum.resize(values.size());
      combine(ReduceOp::kSum, pending.sum, values);
    }
    read_is_new_ = false;
    for (; !pending_.empty() && pending_.begin()->second.gradients.size() == reads_.size();
         pending_.erase(pending_.begin())) {
      complete(pending_.begin()->second);
    }
  }

  void complete(Clock& clock) {
    auto& gradients = clock.gradients;
    AlignedVector<float> mean = std::move(gradients.begin()->second);
    for (auto next = std::next(gradients.begin()); next != gradients.end(); ++next) {
      combine(ReduceOp::kSum, mean, next->second);
    }
    step(complete_++, clock.rates, mean, params_);
  }

  // The optimizer's step with the mean of what all have given, sum/M.
  void step(std::int64_t at, const Rates& rates, std::span<float> sum, std::span<float> params) {
    lockstep::finish(Reduction::over(ReduceOp::kMean, static_cast<int>(reads_.size())), sum);
    optimizer_->update(at, rates, params, sum, 0, layers_);
  }

  // What a worker gets to see. With s = 0 who reads late at a clock must see what others saw.
  std::span<const float> read() {
    if (bound_ == 0 || pending_.empty()) return params_;
    if (std::exchange(read_is_new_, true)) return read_;
    read_ = params_;
    const auto memory = [this](StateVisitor& visitor) { optimizer_->state(visitor); };
    const StateStore before(memory);
    for (const auto& [at, clock] : pending_) {
      partial_ = clock.sum;
      step(at, clock.rates, partial_, read_);
    }
    before.restore(memory);
    return read_;
  }

  AlignedVector<float> params_;   // with all complete clocks and nothing else
  AlignedVector<float> read_;     // with steps of the others on top
  bool read_is_new_ = false;      // has nothing come since?
  AlignedVector<float> partial_;  // a copy of a clock's sum
  std::size_t layers_;
  std::unique_ptr<Optimizer> optimizer_;
  std::int64_t bound_;
  bool first_;                 // does this shard keep the list of work?
  std::int64_t complete_ = 0;  // clocks of which all gradients are here
  WorkList work_;
  std::vector<std::int64_t> reads_;  // by worker: the clock it waits to read at, or kNone
  std::map<std::int64_t, Clock> pending_;
  double epoch_ = 0;  // of the latest read
};

class StaleSynchronous : public ServedStrategy {
 public:
  explicit StaleSynchronous(StaleSynchronousOptions options) : options_(options) {}

  SyncTraits traits() const override {
    return {.all_reduce = false, .averages = false, .in_step = false};
  }

  Turn next(std::int64_t done, std::int64_t until) override {
    if (!under_way_) {  // the first step is one's own
      under_way_ = true;
      item_ = done;
      owner_ = index();
      limit_ = until;
      record().add(0, false);
    }
    if (item_ != kNone) return {true, item_, owner_ == index() ? -1 : owner_};
    under_way_ = false;
    meet();
    return {false, limit_};
  }
  void close() override { server().ask_one(0, {.kind = kClose}); }

  void step(SyncStep& step) override {
    const ServerHeader given =
        hand_in(step, {.kind = kPush, .clock = item_, .owner = owner_, .limit = limit_});
    item_ = given.clock;
    owner_ = static_cast<int>(given.owner);
    if (item_ == kNone) limit_ = given.limit;
    if (item_ != kNone) take({.kind = kRead, .clock = item_});
  }
  void finish(SyncStep&) override { meet(); }

  std::unique_ptr<ShardRule> shard_rule(ShardSetup setup) const override {
    return std::make_unique<StaleSynchronousRule>(std::move(setup), options_);
  }

 private:
  StaleSynchronousOptions options_;
  bool under_way_ = false;  // between two meetings?
  std::int64_t item_ = kNone, limit_ = 0;
  int owner_ = 0;  // of the batch to take
};

OptionSet stale_synchronous_options() {
  OptionSet options;
  options.integer("bound", 4, "s, how many steps a worker may be ahead of the slowest").at_least(0);
  options.flag("help", true, "a worker that would have to wait takes a step of the slowest");
  return options;
}

const Registration<SyncStrategy> kStaleSynchronous{
    "stale-synchronous", "Workers may be a few steps ahead of the slowest, and no more.",
    stale_synchronous_options(), [](const Options& options) {
      return std::make_unique<StaleSynchronous>(
          StaleSynchronousOptions{options.integer("bound"), options.flag("help")});
    }};

}  // namespace
}  // namespace lockstep
