#include "lockstep/train/learner_count.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "lockstep/collective/collectives.h"
#include "lockstep/train/batch_source.h"
#include "lockstep/train/everyone.h"
#include "lockstep/train/learner.h"
#include "lockstep/transport/thread_budget.h"

namespace lockstep {
namespace {

constexpr std::int64_t kTrialSteps = 12;
constexpr std::int64_t kWarmUp = 2;  // of them: the first allocate, and fill caches
constexpr double kLeastGain = 0.05;
constexpr int kMostLearners = 16;  // a core

// Samples a second in a short training that leaves nothing behind.
double trial(World& world, Config config, const Ingredients& ingredients, int workers) {
  config.at("cluster").set_value("workers", std::int64_t{workers});
  config.at("train").set_value("steps", kTrialSteps);
  const Job job(std::move(config), ingredients, 0);
  const std::int64_t steps = job.plan().steps(), warm_up = std::min(kWarmUp, steps - 1);
  double seconds = 0, samples = 0;
  for (std::int64_t step = warm_up; step < steps; ++step) {
    samples += static_cast<double>(job.samples_in(step));
  }
  world.run(job.placement().ranks(), [&](Transport& transport) {
    if (transport.rank() >= job.placement().worker_ranks()) {
      return serve_only(transport, job, {}, false);
    }
    Group everyone = group_of_everyone(transport);
    Learner learner(transport, job);
    learner.start();
    BatchSource source(job, transport.rank());
    Batch batch;
    double began = 0;
    for (std::int64_t step = 0; step < steps; ++step) {
      if (step == warm_up) {
        barrier(learner.group());
        began = transport.now();
      }
      source.fill(step, batch);
      learner.learn(step, step, batch, false);
    }
    barrier(learner.group());
    if (transport.rank() == 0) seconds = transport.now() - began;
    learner.rest();
    if (job.placement().servers > 0) {
      agree_to_rest(everyone, RestFor::kEnd);
      gather_arrivals(everyone, job, {});
    }
  });
  return samples / seconds;
}

bool has_learners(const Section& sync) {
  return std::ranges::any_of(sync.options().declared().all(),
                             [](const Option& option) { return option.name() == "learners"; });
}

int number_in(const std::string& text) {
  int number = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc() && stopped == end && number >= 1) return number;
  throw ConfigError(
      "[sync] learners = \"{}\" is neither a number of workers a core, from 1 on, nor \"auto\"; "
      "leave it empty to take [cluster] workers",
      text);
}

}  // namespace

LearnerSearch search_learners(const std::function<double(int learners)>& throughput, double gain,
                              int most) {
  LearnerSearch search{{throughput(1)}, 1};
  for (int learners = 2; learners <= most; ++learners) {
    const double before = search.found.back();
    search.found.push_back(throughput(learners));
    if (search.found.back() < before * (1 + gain)) break;
    search.best = learners;
  }
  return search;
}

std::vector<std::string> settle_learners(World& world, Config& config, Ingredients& ingredients) {
  Section& sync = config.at("sync");
  if (!has_learners(sync) || sync.options().text("learners").empty()) return {};
  const std::string wish = sync.options().text("learners");
  if (stages_of(config) > 1) {
    throw ConfigError(
        "[sync] learners = \"{}\" puts whole models on cores, and [parallel] stages cuts them; "
        "leave "
        "it empty and set [cluster] workers",
        wish);
  }
  const std::string& where = config.at("cluster").own().text("world");
  if (!where.empty() && where != "threads") {
    throw ConfigError(
        "[sync] learners = \"{}\" counts the cores of this machine, on which the workers of "
        "[cluster] world = \"{}\" need not be; leave it empty and set [cluster] workers",
        wish, where);
  }
  sync.set_value("learners", std::string());
  const int cores = usable_cores();
  int learners = 0;
  std::string findings;
  if (wish == "auto") {
    if (config.at("train").own().integer("batch") > 0) {
      throw ConfigError(
          "[sync] learners = \"auto\" tries several numbers of workers, which cannot all share "
          "[train] batch = {}; set [train] local_batch instead and batch = 0",
          config.at("train").own().integer("batch"));
    }
    if (!ingredients.dataset) {
      const Section& data = config.at("data");
      ingredients.dataset =
          Registry<DatasetSource>::instance().make(data.component(), data.options())->load();
    }
    const auto search =
        search_learners([&](int count) { return trial(world, config, ingredients, count * cores); },
                        kLeastGain, kMostLearners);
    learners = search.best;
    findings = fmt::format("Samples/s with 1, 2, … learners a core: {:.0f}. ",
                           fmt::join(search.found, ", "));
  } else {
    learners = number_in(wish);
  }
  config.at("cluster").set_value("workers", std::int64_t{learners} * cores);
  return {fmt::format("{}{} learner{} on each of {} core{}: {} workers.", findings, learners,
                      learners == 1 ? "" : "s", cores, cores == 1 ? "" : "s", learners * cores)};
}

}  // namespace lockstep
