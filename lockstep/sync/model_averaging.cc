// Synchronous model averaging (SMA; Koliousis et al. 2019, Crossbow): k learners with small batches
// and a centre z that averages them. In every step each learner j is corrected towards the centre,
// and the centre follows the corrections, with a momentum of its own:
//
//   c_j = α(w_j − z),   w_j ← w_j − η g_j − c_j,   z ← z + Σ_j c_j + μ(z − z_prev)
//
// The learners' optimizer may be any; −η g_j is its step. When the learning rate drops, learners
// would have to find together again from where the old rate has scattered them: the averaging
// restarts instead, with all learners at the centre. The centre is the model.
#include <algorithm>

#include "lockstep/base/aligned.h"
#include "lockstep/sync/centre.h"

namespace lockstep {
namespace {

struct ModelAveragingOptions {
  double pull = -1;
  double momentum = 0.9;
  double restart = 2;

  bool drops(double before, double now) const {
    return restart > 0 && before > 0 && now * restart <= before;
  }
};

class ModelAveraging : public SyncStrategy {
 public:
  explicit ModelAveraging(ModelAveragingOptions options) : options_(options) {}

  SyncTraits traits() const override { return {.every_step = true, .amplifies = true}; }
  void prepare(const SyncSetup& setup) override {
    const auto params = setup.replica.params();
    centre_.assign(params.begin(), params.end());
    previous_ = centre_;
    correction_.resize(centre_.size());
  }

  // Before forward: the gradient must be that of the parameters it is applied to.
  void before(const SyncStep& step, Batch&) override {
    if (options_.drops(rate_, step.rates.lr)) restart(step);
    rate_ = step.rates.lr;
  }

  void step(SyncStep& step) override {
    const int learners = step.communicator.size();
    const auto alpha = static_cast<float>(pull_of(options_.pull, 1, learners));
    const auto params = step.replica.params();
    for (std::size_t i = 0; i < params.size(); ++i) {
      correction_[i] = alpha * (params[i] - centre_[i]);
    }
    take_step(step);
    for (std::size_t i = 0; i < params.size(); ++i) params[i] -= correction_[i];
    step.replica.apply_update();
    step.communicator.average(correction_, Content::kChange);
    const auto count = static_cast<float>(learners);
    const auto momentum = static_cast<float>(options_.momentum);
    for (std::size_t i = 0; i < params.size(); ++i) {
      const float centre = centre_[i];
      centre_[i] += count * correction_[i] + momentum * (centre - previous_[i]);
      previous_[i] = centre;
    }
  }

  void finish(SyncStep& last) override { show_centre(last, centre_); }
  bool consistent_now() const override { return true; }
  void show_model(SyncStep& step) override { show_centre(step, centre_); }
  void state(StateVisitor& visitor) override {
    visitor.floats("centre", centre_);
    visitor.floats("previous", previous_);
    visitor.real("rate", rate_);
  }

 private:
  // Everybody knows the centre and sees the same rates, so nothing is sent.
  void restart(const SyncStep& step) {
    std::ranges::copy(centre_, step.replica.params().begin());
    step.replica.apply_update();
    step.optimizer.reset();
    previous_ = centre_;
  }

  ModelAveragingOptions options_;
  double rate_ = 0;  // of the latest step
  AlignedVector<float> centre_, previous_, correction_;
};

OptionSet model_averaging_options() {
  OptionSet options;
  options
      .real("pull", -1,
            "α, the share of its distance that a learner is corrected by; negative: "
            "1 divided by the learners")
      .at_least(-1)
      .at_most(1);
  options.real("momentum", 0.9, "μ, of the centre").at_least(0).at_most(1);
  options
      .real("restart", 2,
            "the averaging restarts when the learning rate falls to 1/restart or less from one "
            "step to the next; 0: never")
      .at_least(0);
  options.text("learners", "",
               "workers a core, on threads: a number, or auto: as many as raise the throughput; "
               "empty: [cluster] workers as they are");
  return options;
}

const Registration<SyncStrategy> kModelAveraging{
    "model-averaging", "Learners are corrected towards their average in every step.",
    model_averaging_options(), [](const Options& options) {
      const double restart = options.real("restart");
      if (restart > 0 && restart <= 1) {
        throw ConfigError(
            "[sync] restart = {} would restart the averaging without a drop of the rate; use more "
            "than 1, or 0 for never",
            restart);
      }
      return std::make_unique<ModelAveraging>(
          ModelAveragingOptions{options.real("pull"), options.real("momentum"), restart});
    }};

}  // namespace
}  // namespace lockstep
