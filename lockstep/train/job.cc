#include "lockstep/train/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lockstep/assign/epochs.h"
#include "lockstep/base/error.h"
#include "lockstep/sync/optimizer_memory.h"

namespace lockstep {
namespace {

template <typename T>
std::unique_ptr<T> make_component(const Config& config, const char* section) {
  const Section& chosen = config.at(section);
  return Registry<T>::instance().make(chosen.component(), chosen.options());
}

std::vector<std::int64_t> labels_of(const Dataset& dataset, std::span<const SampleId> ids) {
  std::vector<std::int64_t> labels;
  if (dataset.labels.empty()) return labels;
  for (const SampleId id : ids) labels.push_back(dataset.labels[id]);
  return labels;
}

}  // namespace

Job::Job(Config config, Ingredients ingredients, int ranks_given)
    : config_(std::move(config)),
      dataset_(std::move(ingredients.dataset)),
      model_(std::move(ingredients.model)) {
  if (!model_) model_ = make_component<ModelKind>(config_, "model");
  traits_ = make_strategy()->traits();
  settle_compression();
  check_overlap();
  placement_ = place_workers(config_, *model_, traits_, ranks_given);
  slowdown_ = std::make_unique<Slowdown>(config_.at("cluster").own(), placement_.workers, seed());
  if (traits_.apart) models_ = make_strategy()->households(placement_.workers);
  batch_ = settle_batch(config_, *make_strategy(), placement_.workers);
  settle_statistics();
  if (!dataset_) dataset_ = make_component<DatasetSource>(config_, "data")->load();
  share_out_samples();
  make_plan();

  const Options& train = config_.at("train").own();
  settings_ = {.data = dataset_->shape,
               .seed = seed(),
               .precision = train.text("precision"),
               .label_smoothing = train.real("label_smoothing"),
               .batch_norm = train.text("batch_norm")};
  cut_model();
}

void Job::cut_model() {
  const Options& parallel = config_.at("parallel").own();
  if (placement_.stages == 1) {
    if (!parallel.texts("cuts").empty() || parallel.integer("replicas") > 1) {
      throw ConfigError(
          "[parallel] cuts and replicas say how a model lies in stages, and stages = 1; set "
          "stages, or "
          "leave them out (--set parallel.cuts=)");
    }
    if (parallel.text("memory").empty()) return;
  }
  // Parameters, gradients, and what the optimizer remembers of each.
  const auto optimizer = make_optimizer();
  const Layer one{"one", 0, 1, {1}, LayerKind::kWeight};
  optimizer->prepare(std::span(&one, 1));
  const auto vectors = static_cast<double>(2 + memory_of(*optimizer).size());
  auto cut = std::make_unique<Parallel>(config_, *model_, settings_, traits_,
                                        batch_plans_.rbegin()->first, vectors);
  if (placement_.stages > 1) parallel_ = std::move(cut);  // of one it only looks at the memory
}

void Job::settle_compression() {
  const Section& section = config_.at("compress");
  auto plan =
      std::make_unique<CompressionPlan>(section.component(), section.options(), section.own());
  if (!plan->compresses()) return;
  if (config_.at("train").own().text("precision") == "fp16") {
    throw ConfigError(
        "[compress] does not go with [train] precision = \"fp16\", whose gradients overflow now "
        "and "
        "then and are left out; use bf16 or float");
  }
  if (traits_.amplifies && !plan->nearly_exact()) {
    throw ConfigError(
        "[sync] name = \"{}\" has a momentum over averages, which would amplify what \"{}\" leaves "
        "out; use fp16, bf16 or nonzero with it, or another strategy, such as \"local\"",
        config_.at("sync").component(), plan->names());
  }
  // What workers hold back belongs to them; there is no fair way to hand it to others.
  traits_.resizes = false;
  const Options& optim = config_.at("optim").options();
  for (const Option& option : optim.declared().all()) {
    if (option.name() != "momentum" || plan->momentum() == 0 || optim.real("momentum") == 0)
      continue;
    throw ConfigError(
        "[compress] momentum = {} corrects the momentum on each worker, so the optimizer must have "
        "none of its own; set [optim] momentum = 0 instead of {}",
        plan->momentum(), optim.real("momentum"));
  }
  compression_ = std::move(plan);
}

void Job::check_overlap() const {
  if (!make_bucketing()->overlaps()) return;
  const std::string& overlap = config_.at("overlap").component();
  if (!traits_.gradients) {
    throw ConfigError(
        "[overlap] name = \"{}\" hides averages of gradients, and sync \"{}\" makes none; choose "
        "\"none\"",
        overlap, config_.at("sync").component());
  }
  if (has_server()) {
    throw ConfigError(
        "[overlap] name = \"{}\" is for workers that average among themselves; with [aggregate] "
        "via = \"server\" choose \"none\"",
        overlap);
  }
}

std::uint64_t Job::seed() const {
  return static_cast<std::uint64_t>(config_.at("train").own().integer("seed"));
}

std::size_t Job::global_batch() const {
  return batch_.local * static_cast<std::size_t>(placement_.workers);
}

bool Job::has_server() const {
  return config_.at("aggregate").own().text("via") == "server";
}

int Job::shards() const {
  return placement_.servers > 0 ? placement_.servers : placement_.worker_ranks();
}

void Job::settle_statistics() {
  const Options& train = config_.at("train").own();
  if (train.text("batch_norm") != "shared") return;
  const auto given = static_cast<int>(train.integer("batch_norm_workers"));
  const int together = placement_.workers / models_;
  statistics_workers_ = given == 0 ? together : given;
  const int merge = placement_.merge;
  if (together % statistics_workers_ != 0 ||
      (statistics_workers_ % merge != 0 && merge % statistics_workers_ != 0)) {
    throw ConfigError("[train] batch_norm_workers = {} must divide {} workers{}",
                      statistics_workers_, together,
                      merge > 1     ? fmt::format(" and fit the {} that a rank computes", merge)
                      : models_ > 1 ? " of a group, which has a model of its own"
                                    : "");
  }
  if (statistics_workers_ > merge && !traits().in_step) {
    throw ConfigError(
        "[train] batch_norm = \"shared\": workers of sync \"{}\" do not take their steps "
        "together; choose batch_norm = \"local\"",
        config_.at("sync").component());
  }
}

void Job::share_out_samples() {
  const Options& data = config_.at("data").own();
  const Sampling sampling = Sampling::from(config_.at("assign").options());
  split_ = lockstep::split(*dataset_, data.real("validation"), sampling.shuffled(), seed());
  const Normalisation normalisation =
      data.flag("normalise") ? measure_normalisation(*dataset_, split_.train) : Normalisation{};
  loader_ = std::make_unique<Loader>(
      dataset_, normalisation,
      Augmentation{static_cast<int>(data.integer("pad")), data.flag("flip")}, seed());

  const auto strategy = make_strategy();
  const int workers = placement_.workers;
  const Layout layout{workers, strategy->households(workers), strategy->neighbourhoods(workers),
                      strategy->equal_households()};
  const auto assignment = make_component<Assignment>(config_, "assign");
  const auto labels = labels_of(*dataset_, split_.train);
  sampler_ = std::make_unique<Sampler>(*assignment, SampleSet{split_.train, labels}, layout,
                                       sampling, seed());
}

void Job::make_plan() {
  const Options& train = config_.at("train").own();
  double epochs = train.real("epochs");
  if (const double copies = sampler_->copies(); copies > 1) {
    epochs =
        static_cast<double>(overlap_epochs(static_cast<std::int64_t>(std::ceil(epochs)), copies));
  }
  schedule_ = make_component<Schedule>(config_, "schedule");
  const auto optimizer = make_optimizer();
  rate_plan_ = std::make_unique<RatePlan>(
      *schedule_, config_.at("schedule").options(),
      Rates{optimizer->base_lr(), optimizer->base_weight_decay()},
      static_cast<std::int64_t>(global_batch()) / models_, epochs, batch_.scale);

  const auto sizes = sampler_->shard_sizes();
  plan_ = std::make_unique<StepPlan>(
      *std::max_element(sizes.begin(), sizes.end()), epochs, train.integer("steps"),
      [&](double progress) {
        const double factor = rate_plan_->batch_factor(progress, progress * epochs);
        const auto grown = std::llround(static_cast<double>(batch_.local) * factor);
        const auto batch = static_cast<std::size_t>(std::max(1LL, grown));
        batch_plans_.try_emplace(batch, sizes, batch);
        return batch;
      });
}

Rates Job::rates(std::int64_t step) const {
  const StepPosition at = plan_->at(step);
  return rate_plan_->at(at.progress, at.epochs);
}

std::unique_ptr<Optimizer> Job::make_optimizer() const {
  return make_component<Optimizer>(config_, "optim");
}

std::unique_ptr<SyncStrategy> Job::make_strategy() const {
  return make_component<SyncStrategy>(config_, "sync");
}

std::unique_ptr<Bucketing> Job::make_bucketing() const {
  return make_component<Bucketing>(config_, "overlap");
}

const BatchPlan& Job::batch_plan(const StepPosition& at) const {
  return batch_plans_.at(at.local_batch);
}

std::size_t Job::samples_in(std::int64_t step) const {
  const StepPosition at = plan_->at(step);
  return batch_plan(at).global_size(at.index);
}

std::size_t Job::samples_in(std::int64_t step, int first_worker, int workers) const {
  const StepPosition at = plan_->at(step);
  std::size_t sum = 0;
  for (int i = 0; i < workers; ++i) {
    sum += batch_plan(at).slice(first_worker + i, at.index).size;
  }
  return sum;
}

std::int64_t Job::interval(double epochs, std::int64_t step) const {
  const auto batch = plan_->at(step).local_batch * static_cast<std::size_t>(placement_.workers);
  const auto pass = validation_interval(static_cast<std::int64_t>(split_.train.size()),
                                        static_cast<std::int64_t>(batch));
  return std::max<std::int64_t>(1, std::llround(epochs * static_cast<double>(pass)));
}

}  // namespace lockstep
