#include "lockstep/train/train.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "lockstep/base/file.h"
#include "lockstep/train/arrival_file.h"
#include "lockstep/train/describe.h"
#include "lockstep/train/interrupt.h"
#include "lockstep/train/learner_count.h"
#include "lockstep/train/ledger_table.h"

namespace lockstep {
namespace {

// Going on with a run that is over would only write its last lines once more.
void refuse_complete(const RunPaths& paths, const Job& job) {
  if (!std::filesystem::exists(paths.summary())) return;
  const Json summary = Json::parse(read_text_file(paths.summary(), 1 << 20), nullptr, false);
  if (!summary.is_object() || !summary.contains("steps") || !summary["steps"].is_number()) return;
  if (summary["steps"].get<std::int64_t>() < job.plan().steps()) return;
  throw ConfigError(
      "the run in {} is complete; go further with --set train.epochs=, or see what it "
      "has learnt with: lockstep eval {}",
      paths.root, paths.root);
}

RunDirectory open_directory(const TrainRequest& request, const Config& resolved) {
  if (request.resume) return RunDirectory::resume(request.out);
  if (!request.out.empty()) return RunDirectory::create(request.out, resolved.to_toml());
  const std::string stem = fmt::format(
      "{}-{}", resolved.at("model").chosen().empty() ? "own" : resolved.at("model").chosen(),
      resolved.at("data").chosen());
  return RunDirectory::create_numbered("runs", stem, resolved.to_toml());
}

Json to_json(const Tallies& tallies) {
  if (tallies.samples == 0) return nullptr;
  return {{"samples", tallies.samples},
          {"loss", tallies.mean_loss()},
          {"accuracy", tallies.accuracy()}};
}

Json to_json(const std::vector<WorkerLedger>& ledgers) {
  Json list = Json::array();
  for (const WorkerLedger& one : ledgers) {
    const auto whole = [](double value) { return static_cast<std::int64_t>(value); };
    list.push_back({{"steps", whole(one.steps)},
                    {"loading", one.loading},
                    {"computing", one.computing},
                    {"forward", one.forward},
                    {"updating", one.updating},
                    {"waiting", one.waiting},
                    {"idling", one.idling},
                    {"communicating", one.communicating},
                    {"encoding", one.encoding},
                    {"decoding", one.decoding},
                    {"coding_beside", one.beside},
                    {"hidden", one.hidden},
                    {"bytes_sent", whole(one.sent)},
                    {"bytes_to_stages", whole(one.passed)},
                    {"bytes_uncompressed", whole(one.plain)},
                    {"bytes_received", whole(one.received)},
                    {"rounds", whole(one.rounds)}});
  }
  return list;
}

void write_summary(const std::string& path, const Job& job, const World& world,
                   const TrainResult& result) {
  const Standing& standing = result.standing;
  Json summary{{"world", world.describe(job.placement().ranks())},
               {"workers", job.placement().workers},
               {"parameters", result.parameters},
               {"steps", standing.step},
               {"epochs", standing.epoch},
               {"samples", standing.samples},
               {"bytes", standing.bytes},
               {"seconds", standing.seconds},
               {"waited_for_batches", result.waited},
               {"stopped_early", result.stopped_early},
               {"by_worker", to_json(result.ledgers)},
               {"best_validation_accuracy", result.best_accuracy},
               {"validation", to_json(result.validation)},
               {"test", to_json(result.test)}};
  if (!result.compression.empty()) summary["compression"] = result.compression;
  if (!result.overlap.empty()) summary["overlap"] = result.overlap;
  if (job.parallel() != nullptr) {
    summary["stages"] = job.placement().stages;
    summary["pipeline"] = result.pipeline;
    summary["idle"] = idle_share(result.ledgers);
  }
  if (!result.staleness.pushes.empty()) {
    summary["staleness"] = result.staleness.pushes;
    summary["rejected"] = result.staleness.rejected;
  }
  write_file(path, summary.dump(2) + "\n");
}

}  // namespace

std::unique_ptr<World> make_world(const Config& config) {
  const Options& cluster = config.at("cluster").own();
  const std::string name = cluster.text("world").empty() ? "threads" : cluster.text("world");
  const auto& registry = Registry<World>::instance();
  Options options = registry.options(name);
  options.set_value("timeout", cluster.real("timeout"));
  if (!cluster.text("cluster_file").empty()) {
    options.set_value("cluster_file", cluster.text("cluster_file"));
  }
  return registry.make(name, options);
}

int ranks_given(const World& world, const Config& config) {
  return config.at("cluster").own().text("world") == "mpi" ? world.most_ranks() : 0;
}

TrainResult train(World& world, const TrainRequest& request) {
  Config config = request.config;
  Ingredients ingredients = request.ingredients;
  const std::vector<std::string> learners = settle_learners(world, config, ingredients);
  Job job(config, ingredients, ranks_given(world, config));
  if (!request.replay.empty()) {
    if (job.parallel() != nullptr) {
      throw ConfigError("--replay has nothing to repeat in a run with [parallel] stages");
    }
    const int places = job.has_server() ? job.shards() : job.placement().worker_ranks();
    job.replay(
        read_arrivals(find_run(request.replay).arrivals(), places, job.placement().worker_ranks()));
  }
  const int ranks = job.placement().ranks();
  std::optional<RunDirectory> directory;
  std::optional<Reporter> reporter;
  if (world.leads()) {
    directory.emplace(open_directory(request, job.config()));
    if (request.resume) refuse_complete(directory->paths(), job);
  }
  const RunPaths paths = directory ? directory->paths() : RunPaths{};
  const InterruptWatch watch;
  TrainResult result;
  const auto work = [&](Transport& transport) {
    if (transport.rank() >= job.placement().training_ranks()) {
      return serve_only(transport, job, paths, request.resume);
    }
    Worker worker(transport, job, paths);
    const std::vector<std::string> news =
        request.resume ? worker.resume() : std::vector<std::string>{};
    if (transport.rank() == 0) {
      if (request.resume || job.parallel() != nullptr) {
        write_file(paths.config(), worker.settled().to_toml());
      }
      if (request.resume) {  // it can go on: not before may its files change
        cut_metrics(paths.metrics(), worker.step(), worker.ended());
        cut_arrivals(paths.arrivals(), worker.step());
        std::error_code none;
        std::filesystem::remove(paths.summary(), none);  // of its end before it goes further
      }
      reporter.emplace(paths, job.plan().steps(), worker.step(), request.quiet);
      reporter->say(fmt::format("{} on {}", describe(job.placement()), world.describe(ranks)));
      for (const auto& line : learners) reporter->say(line);
      for (const auto& line : worker.remarks()) reporter->say(line);
      for (const auto& line : news) reporter->say(line);
      worker.report_to(&*reporter);
    }
    TrainResult mine = worker.run();
    if (transport.rank() == 0) result = std::move(mine);
  };
  try {
    world.run(ranks, work);
  } catch (const std::exception& error) {
    if (reporter) reporter->note(fmt::format("Ended by an error: {}", error.what()));
    throw;
  }
  if (!directory) return result;
  result.directory = paths.root;
  if (reporter) {
    reporter->note(ledger_table(result.ledgers, result.placement) +
                   staleness_line(result.staleness));
    for (const std::string& line : {result.compression, result.overlap, result.pipeline}) {
      if (!line.empty()) reporter->note(line);
    }
  }
  if (!result.interrupted) write_summary(paths.summary(), job, world, result);
  return result;
}

}  // namespace lockstep
