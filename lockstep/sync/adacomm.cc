// AdaComm (Wang, Joshi 2018): local SGD whose blocks get shorter. Long blocks make fast progress as
// long as the loss is high; averaging often matters near the end, where drift is what is left of
// the loss. After every *interval* of training the period goes down with the square root of the
// training loss:
//
//   τ ← ⌈√(F/F₀)·τ₀⌉, or ⌈γτ⌉ where that would not be shorter
//
// F is the mean loss of the samples that all workers saw in the interval, F₀ that of the first one,
// which leaves τ = τ₀. An interval ends with a block, so that everybody is there to add up F.
#include <algorithm>
#include <array>
#include <cmath>

#include "lockstep/sync/local.h"
#include "lockstep/sync/periods.h"

namespace lockstep {
namespace {

class AdaComm : public LocalSgd {
 public:
  explicit AdaComm(const Options& options)
      : LocalSgd(options.integer("period"), memory_option(options)),
        shrink_(options.real("shrink")),
        interval_epochs_(options.real("interval_epochs")),
        interval_(options.integer("interval_steps")),
        current_(period()) {}

  std::optional<std::int64_t> world_period() const override { return {}; }
  void prepare(const SyncSetup& setup) override {
    if (interval_ > 0) return;
    const double steps = interval_epochs_ * static_cast<double>(setup.steps) / setup.epochs;
    interval_ = std::max<std::int64_t>(1, std::llround(steps));
  }

  void step(SyncStep& step) override {
    ++elapsed_;
    loss_ += step.loss * static_cast<double>(step.samples);
    samples_ += static_cast<double>(step.samples);
    LocalSgd::step(step);
  }

  void state(StateVisitor& visitor) override {
    LocalSgd::state(visitor);
    visitor.integer("period", current_);
    visitor.integer("elapsed", elapsed_);
    visitor.real("loss", loss_);
    visitor.real("samples", samples_);
    visitor.real("first_loss", first_loss_);
  }

 protected:
  std::int64_t length(std::int64_t) const override { return current_; }

  void agree(SyncStep& step) override {
    LocalSgd::agree(step);
    if (elapsed_ < interval_) return;
    std::array<float, 2> sums{static_cast<float>(loss_), static_cast<float>(samples_)};
    step.communicator.average(sums);
    const double mean = static_cast<double>(sums[0]) / static_cast<double>(sums[1]);
    if (first_loss_ < 0) {
      first_loss_ = mean;
    } else {
      current_ = adacomm_period(mean, first_loss_, period(), current_, shrink_);
    }
    elapsed_ = 0;
    loss_ = samples_ = 0;
  }

 private:
  double shrink_;
  double interval_epochs_;
  std::int64_t interval_;     // in steps
  std::int64_t current_;      // τ
  std::int64_t elapsed_ = 0;  // steps of the interval
  double loss_ = 0;           // this worker's in the interval, summed over samples
  double samples_ = 0;
  double first_loss_ = -1;  // F₀; below 0: not measured yet
};

OptionSet adacomm_options() {
  OptionSet options = local_options(16, "τ₀, steps between two averages at the beginning");
  options.real("shrink", 0.5, "γ, factor of a period that the loss would not shorten")
      .above(0)
      .at_most(1);
  options.real("interval_epochs", 1, "epochs after which the period is set anew").above(0);
  options.integer("interval_steps", 0, "the same in steps; 0: by interval_epochs").at_least(0);
  return options;
}

const Registration<SyncStrategy> kAdaComm{
    "adacomm", "Local SGD that averages more often as the loss goes down.", adacomm_options(),
    [](const Options& options) { return std::make_unique<AdaComm>(options); }};

}  // namespace
}  // namespace lockstep
