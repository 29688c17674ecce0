#include "lockstep/train/parallel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "lockstep/base/divisors.h"
#include "lockstep/base/error.h"
#include "lockstep/base/text.h"
#include "lockstep/transport/transport.h"

namespace lockstep {
namespace {

// Why these settings and stages exclude each other, and what to do about it.
void check_company(const Config& config, const SyncTraits& traits) {
  const auto refuse = [](const std::string& what, const std::string& instead) {
    throw ConfigError("{} does not go with [parallel] stages: {}", what, instead);
  };
  const Options &train = config.at("train").own(), &cluster = config.at("cluster").own();
  const std::string sync = fmt::format("[sync] name = \"{}\"", config.at("sync").component());
  if (!traits.in_step || !traits.by_step || traits.inbox) {
    refuse(sync,
           "the stages of a worker would not stay in step; use \"synchronous\", \"local\" or "
           "another strategy whose workers take the same steps");
  }
  if (config.at("aggregate").own().text("via") == "server" && !traits.averages) {
    refuse(sync + " with [aggregate] via = \"server\"",
           "every stage would have a server that goes its own way; use via = \"allreduce\"");
  }
  if (traits.apart) refuse(sync, "a stage has no predictions to learn from");
  if (train.text("precision") == "fp16") {
    refuse("[train] precision = \"fp16\"",
           "stages would disagree about the scale of the loss; use bf16 or float");
  }
  if (train.text("batch_norm") == "shared") {
    refuse("[train] batch_norm = \"shared\"", "statistics are those of a micro-batch; use local");
  }
  if (cluster.integer("merge") > 1) {
    refuse("[cluster] merge", "a worker has several ranks already; leave it out");
  }
  if (!cluster.texts("slow").empty() || cluster.real("jitter") > 0) {
    refuse("[cluster] slow or jitter",
           "describe slow hosts in a cluster file, for world = \"sim\"");
  }
  if (config.at("aggregate").own().integer("servers") > 0) {
    refuse("[aggregate] servers", "leave it out: shards of the server live beside the workers");
  }
}

int microbatches_for(std::int64_t given, int stages, std::size_t local_batch) {
  if (given > 0)
    return static_cast<int>(std::min<std::int64_t>(given, static_cast<std::int64_t>(local_batch)));
  if (stages == 1) return 1;
  constexpr std::size_t kLeastSamples = 8, kPerStage = 4;
  const std::size_t wanted = kPerStage * static_cast<std::size_t>(stages);
  return static_cast<int>(std::clamp<std::size_t>(local_batch / kLeastSamples, 1, wanted));
}

}  // namespace

OptionSet parallel_options() {
  OptionSet options;
  options
      .integer("stages", 1, "consecutive parts that the model is cut into, each on a rank; 1: none")
      .at_least(1)
      .at_most(1024);
  options
      .integer("replicas", 0,
               "workers that train the whole model, each on as many ranks as there are stages; 0: "
               "[cluster] workers divided by stages")
      .at_least(0);
  options
      .integer("microbatches", 0,
               "parts of a worker's batch that follow each other through the stages; 0: four a "
               "stage, of at least 8 samples")
      .at_least(0)
      .at_most(65536);
  options.texts("cuts", {},
                "the units that the stages behind the first begin with, such as [\"classifier\"]; "
                "none: found by measuring");
  options.text("memory", "",
               "bytes that a stage may take, such as \"2G\", by an estimate; empty: any");
  options.flag("recompute", false,
               "keep only what came in, and compute forward again before backward");
  return options;
}

int stages_of(const Config& config) {
  return static_cast<int>(config.at("parallel").own().integer("stages"));
}

int replicas_of(const Config& config) {
  const int stages = stages_of(config);
  const auto workers = static_cast<int>(config.at("cluster").own().integer("workers"));
  if (stages == 1) return workers;
  const auto given = static_cast<int>(config.at("parallel").own().integer("replicas"));
  if (given > 0 && given * stages != workers) {
    throw ConfigError(
        "[parallel] stages = {} and replicas = {} are {} ranks, and [cluster] workers = {}; set "
        "workers to {}, or leave replicas out",
        stages, given, stages * given, workers, stages * given);
  }
  if (workers % stages != 0) {
    throw ConfigError("[parallel] stages = {} do not divide [cluster] workers = {}; {} would",
                      stages, workers, fmt::join(divisors(workers), ", "));
  }
  return workers / stages;
}

Parallel::Parallel(const Config& config, const ModelKind& model, const ModelSettings& settings,
                   const SyncTraits& traits, std::size_t largest_batch, double state_vectors)
    : schedule_(config.at("parallel").component()), stages_(stages_of(config)) {
  if (stages_ > 1) check_company(config, traits);
  const Options& own = config.at("parallel").own();
  units_ = model.units(settings);
  const std::string& name = config.at("model").chosen();
  if (units_.empty()) {
    throw ConfigError(
        "model \"{}\" cannot be cut into stages; mlp, lenet, resnet, lstm and a "
        "torch::nn::Sequential "
        "of your own can",
        name.empty() ? "own" : name);
  }
  if (static_cast<std::size_t>(stages_) > units_.size()) {
    std::vector<std::string> names;
    for (const ModelUnit& unit : units_) names.push_back(unit.name);
    throw ConfigError("model \"{}\" can be cut into at most {} stages, not {}: {}", name,
                      units_.size(), stages_, fmt::join(names, ", "));
  }
  microbatches_ = microbatches_for(own.integer("microbatches"), stages_, largest_batch);
  const auto each = static_cast<std::size_t>(microbatches_);
  demands_.samples = (largest_batch + each - 1) / each;
  demands_.state_vectors = state_vectors;
  demands_.recompute = own.flag("recompute");
  if (!own.text("memory").empty()) {
    demands_.memory = static_cast<double>(parse_size(own.text("memory"), "[parallel] memory"));
  }
  if (const auto& names = own.texts("cuts"); !names.empty()) {
    if (names.size() + 1 != static_cast<std::size_t>(stages_)) {
      throw ConfigError(
          "[parallel] cuts names {} unit{}, which makes {} stages, and stages = {}; leave cuts out "
          "(--set parallel.cuts=) and they are found",
          names.size(), names.size() == 1 ? "" : "s", names.size() + 1, stages_);
    }
    cuts_ = ends_at(names, units_);
  }
  check_messages();
  check_memory();
}

void Parallel::check_messages() const {
  for (const ModelUnit& unit : units_) {
    const auto bytes = demands_.samples * unit.out_values * sizeof(float);
    if (bytes < kMessageLimit) continue;
    throw ConfigError(
        "a micro-batch of {} samples behind \"{}\" takes {}, and messages {} at most; set more "
        "[parallel] microbatches",
        demands_.samples, unit.name, format_size(bytes), format_size(kMessageLimit));
  }
}

void Parallel::check_memory() const {
  if (demands_.memory == 0) return;
  const CutProblem any = problem(modelled_times(units_, demands_.samples), {});
  const auto too_large = [&](const Cut& cut) {
    return cut.stages.empty() || std::ranges::any_of(cut.stages, [&](const StageEstimate& stage) {
             return stage.bytes > demands_.memory;
           });
  };
  if (!too_large(cuts_.empty() ? best_cut(any, kept()) : cut_at(any, cuts_, kept()))) return;
  const int fewest = fewest_stages(any, *make_schedule(), microbatches_);
  const std::string limit = format_size(static_cast<std::size_t>(demands_.memory));
  if (fewest == 0) {
    throw ConfigError(
        "the model does not fit [parallel] memory = {} a stage, however it is cut; more "
        "microbatches or recompute = true need less",
        limit);
  }
  if (!cuts_.empty() && fewest <= stages_) {
    throw ConfigError(
        "with these [parallel] cuts a stage takes more than memory = {}; leave cuts "
        "out (--set parallel.cuts=) and ones that fit are found",
        limit);
  }
  throw ConfigError(
      "the model does not fit {} stage{} of [parallel] memory = {}; the smallest number of stages "
      "that does is {}",
      stages_, stages_ == 1 ? "" : "s", limit, fewest);
}

std::vector<int> Parallel::kept() const {
  return in_flight(*make_schedule(), stages_, microbatches_);
}

std::unique_ptr<PipelineSchedule> Parallel::make_schedule() const {
  return Registry<PipelineSchedule>::instance().make(schedule_);
}

StagePlan Parallel::plan(const std::vector<UnitTimes>& times, const LinkTimes& link) const {
  const CutProblem measured = problem(times, link);
  return plan_of(cuts_.empty() ? best_cut(measured, kept()) : cut_at(measured, cuts_, kept()),
                 units_);
}

StagePlan Parallel::plan() const {
  return plan(modelled_times(units_, demands_.samples), {});
}

std::vector<std::string> Parallel::names_of(const StagePlan& plan) const {
  std::vector<std::string> names;
  for (std::size_t i = 1; i < plan.stages.size(); ++i) names.push_back(plan.stages[i].first);
  return names;
}

std::vector<StageLine> describe(const StagePlan& plan) {
  std::vector<StageLine> lines;
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    const StageShare& share = plan.stages[i];
    lines.push_back({fmt::format("stage {}", i),
                     fmt::format("{}{}: {} parameters, about {} and {} a micro-batch", share.first,
                                 share.units.size == 1 ? "" : " … " + share.last, share.params.size,
                                 format_size(static_cast<std::size_t>(share.estimate.bytes)),
                                 trim(format_seconds(share.estimate.seconds)))});
  }
  return lines;
}

}  // namespace lockstep
