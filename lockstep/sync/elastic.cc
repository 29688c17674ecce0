// Elastic averaging SGD (Zhang, Choromanska & LeCun 2015): every worker steps alone and is tied to
// a common centre x̃ by an elastic band. Every τ steps the band pulls both ends together,
//
//   x_i ← x_i − α(x_i − x̃),   x̃ ← x̃ + α Σ_i (x_i − x̃)
//
// so that workers may explore, but not get lost. The centre is the model. In the synchronous form
// all workers pull at once: an average gives Σ_i x_i, and everybody keeps the same centre. In the
// asynchronous form the centre lives on the parameter server, and each worker pulls when it is
// ready, x̃ ← x̃ + α(x_i − x̃): nobody waits, and the fast see a centre that others have moved.
#include "lockstep/base/aligned.h"
#include "lockstep/sync/centre.h"
#include "lockstep/sync/served.h"

namespace lockstep {
namespace {

constexpr std::uint32_t kMove = kFirstOwn + 1;
constexpr double kShare = 0.9;  // the paper's β = αM

struct ElasticOptions {
  std::int64_t period = 4;
  double pull = -1;

  bool due(std::int64_t step) const { return (step + 1) % period == 0; }
  float alpha(int workers) const { return static_cast<float>(pull_of(pull, kShare, workers)); }
};

class SynchronousElastic : public SyncStrategy {
 public:
  explicit SynchronousElastic(ElasticOptions options) : options_(options) {}

  SyncTraits traits() const override { return {.every_step = options_.period == 1}; }
  void prepare(const SyncSetup& setup) override {
    const auto params = setup.replica.params();
    centre_.assign(params.begin(), params.end());
    alpha_ = options_.alpha(setup.communicator.size());
  }
  void step(SyncStep& step) override {
    take_step(step);
    const bool due = options_.due(step.index);
    if (due) pull(step);
    consistent_ = due || step.meeting;
  }
  void finish(SyncStep& last) override { show_centre(last, centre_); }
  bool consistent_now() const override { return consistent_; }
  void show_model(SyncStep& step) override { show_centre(step, centre_); }
  void state(StateVisitor& visitor) override { visitor.floats("centre", centre_); }

 private:
  void pull(SyncStep& step) {
    const auto params = step.replica.params();
    mean_.assign(params.begin(), params.end());
    step.communicator.average(mean_, Content::kOwnModel);
    const float beta = alpha_ * static_cast<float>(step.communicator.size());
    for (std::size_t i = 0; i < mean_.size(); ++i) {
      const float centre = centre_[i];
      params[i] -= alpha_ * (params[i] - centre);
      centre_[i] += beta * (mean_[i] - centre);
    }
    step.replica.apply_update();
  }

  ElasticOptions options_;
  float alpha_ = 0;
  AlignedVector<float> centre_, mean_;
  bool consistent_ = false;
};

class ElasticRule : public ShardRule {
 public:
  ElasticRule(const ShardSetup& setup, float alpha)
      : centre_(setup.params.begin(), setup.params.end()), alpha_(alpha) {}

  // Answers with the centre as it was, which is what the worker's end of the band needs.
  void handle(const ServerHeader& header, std::span<const float> values,
              const Answer& answer) override {
    if (header.kind > kMove || (header.kind == kMove && values.size() != centre_.size())) {
      throw CommError("worker {} sent the centre {} values as a request of kind {}", header.worker,
                      values.size(), header.kind);
    }
    const Form form = header.kind == kMove ? Form::kDifference : Form::kPlain;
    answer(header.worker, {.kind = header.kind, .form = form, .epoch = header.epoch}, centre_);
    if (header.kind != kMove) return;
    for (std::size_t i = 0; i < centre_.size(); ++i)
      centre_[i] += alpha_ * (values[i] - centre_[i]);
  }
  void state(StateVisitor& visitor) override { visitor.floats("centre", centre_); }

 private:
  AlignedVector<float> centre_;
  float alpha_;
};

class AsynchronousElastic : public ServedStrategy {
 public:
  explicit AsynchronousElastic(ElasticOptions options) : options_(options) {}

  SyncTraits traits() const override {
    return {.all_reduce = false, .averages = false, .pushes_models = true};
  }
  void prepare(const SyncSetup& setup) override {
    ServedStrategy::prepare(setup);
    const auto params = setup.replica.params();
    centre_.assign(params.begin(), params.end());
    alpha_ = options_.alpha(workers());
  }
  void step(SyncStep& step) override {
    part();
    take_step(step);
    if (options_.due(step.index)) {
      const auto params = step.replica.params();
      exchange({.kind = kMove, .form = Form::kDifference}, params, centre_);
      for (std::size_t i = 0; i < centre_.size(); ++i)
        params[i] -= alpha_ * (params[i] - centre_[i]);
      step.replica.apply_update();
    }
    if (step.meeting) meet(centre_);
  }
  void finish(SyncStep& last) override {
    meet(centre_);
    show_centre(last, centre_);
  }
  void show_model(SyncStep& step) override { show_centre(step, centre_); }
  const StalenessRecord* staleness() const override { return nullptr; }  // no gradient is pushed
  void state(StateVisitor& visitor) override { visitor.floats("centre", centre_); }

  std::unique_ptr<ShardRule> shard_rule(ShardSetup setup) const override {
    return std::make_unique<ElasticRule>(setup, options_.alpha(setup.workers));
  }

 private:
  ElasticOptions options_;
  float alpha_ = 0;
  AlignedVector<float> centre_;  // the server's, when it was last seen
};

OptionSet elastic_options() {
  OptionSet options;
  options.integer("period", 4, "τ, steps between two pulls").at_least(1);
  options.real("pull", -1, "α, the strength of a pull; negative: 0.9 divided by the workers")
      .at_least(-1)
      .at_most(1);
  options.flag("asynchronous", false,
               "the centre is on the parameter server and nobody waits for others");
  return options;
}

const Registration<SyncStrategy> kElastic{
    "elastic", "Workers step alone; an elastic band ties each to a common centre.",
    elastic_options(), [](const Options& options) -> std::unique_ptr<SyncStrategy> {
      const ElasticOptions own{options.integer("period"), options.real("pull")};
      if (options.flag("asynchronous")) return std::make_unique<AsynchronousElastic>(own);
      return std::make_unique<SynchronousElastic>(own);
    }};

}  // namespace
}  // namespace lockstep
