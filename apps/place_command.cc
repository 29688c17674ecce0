// `lockstep place`: which operator of a graph goes to which device.
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <iostream>
#include <memory>

#include "apps/command.h"
#include "lockstep/base/error.h"
#include "lockstep/base/file.h"
#include "lockstep/base/json_lines.h"
#include "lockstep/base/progress.h"
#include "lockstep/base/text.h"
#include "lockstep/pipeline/gantt.h"
#include "lockstep/pipeline/placement_search.h"

namespace lockstep {
namespace {

struct Arguments {
  std::string graph, cluster, picture;
  std::size_t steps = SearchOptions{}.steps;
  std::uint64_t seed = SearchOptions{}.seed;
  bool json = false;
};

OperatorPlacement search(const OperatorGraph& graph, const Devices& devices,
                         const Arguments& arguments) {
  constexpr std::uint64_t kWhole = 1000;
  const auto began = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  };
  Progress progress("searching", kWhole);
  SearchOptions options{arguments.steps, arguments.seed, {}};
  options.progress = [&](double share, double makespan) {
    progress.update(static_cast<std::uint64_t>(share * kWhole), seconds(),
                    "best " + format_seconds(makespan));
  };
  const OperatorPlacement best = search_placement(graph, devices, options);
  progress.update(kWhole, seconds());
  return best;
}

// The time of a placement, or that it does not fit.
std::optional<double> time_of(const std::optional<OperatorPlacement>& placement,
                              PlacementSimulator& simulator) {
  if (!placement) return {};
  return simulator.run(*placement).makespan;
}

void print_table(const OperatorGraph& graph, const Devices& devices, const OperatorPlacement& best,
                 const PlacementTimes& times) {
  std::vector<std::vector<std::string>> rows{{"device", "speed", "busy", "memory", "operators"}};
  for (std::size_t d = 0; d < devices.size(); ++d) {
    double busy = 0, memory = 0;
    std::string names;
    for (const PlacedTask& task : times.tasks) {
      if (task.device != d) continue;
      busy += task.end - task.begin;
      names += (names.empty() ? "" : " ") + graph.operators[task.op].name;
    }
    for (std::size_t i = 0; i < best.device.size(); ++i) {
      if (best.device[i] == d) memory += graph.operators[i].memory;
    }
    constexpr std::size_t kMostLetters = 60;
    if (names.size() > kMostLetters) {
      const auto space = names.rfind(' ', kMostLetters);
      names = space == std::string::npos ? "…" : names.substr(0, space) + " …";
    }
    const double whole = times.makespan > 0 ? times.makespan : 1;
    rows.push_back({devices.all[d].name, fmt::format("{:g}", devices.all[d].speed),
                    fmt::format("{:.0f} %", 100 * busy / whole),
                    format_size(static_cast<std::size_t>(memory)), names});
  }
  std::cout << format_table(rows);
}

// Before a search that may take long.
void check_picture(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path();
  if (!path.empty() && !folder.empty() && !std::filesystem::is_directory(folder)) {
    throw ConfigError("--picture {}: there is no directory {}", path, folder.string());
  }
}

void place(const Arguments& arguments) {
  check_picture(arguments.picture);
  const OperatorGraph graph = load_graph(arguments.graph);
  const Devices devices = devices_of(load_cluster(arguments.cluster));
  PlacementSimulator simulator(graph, devices);
  const auto alone = time_of(one_device(graph, devices), simulator);
  const auto turns = time_of(round_robin(graph, devices), simulator);
  const auto listed = time_of(list_scheduling(graph, devices), simulator);
  const double bound = placement_lower_bound(graph, devices);
  const OperatorPlacement best = search(graph, devices, arguments);
  const PlacementTimes& times = simulator.run(best);
  if (!arguments.picture.empty()) write_file(arguments.picture, gantt_svg(graph, devices, times));
  if (arguments.json) {
    const auto or_null = [](const std::optional<double>& value) {
      return value ? Json(*value) : Json(nullptr);
    };
    Json placed = Json::object();
    for (std::size_t i = 0; i < best.device.size(); ++i) {
      placed[graph.operators[i].name] = best.device[i];
    }
    std::cout << Json{{"makespan", times.makespan},         {"lower_bound", bound},
                      {"one_device", or_null(alone)},       {"round_robin", or_null(turns)},
                      {"list_scheduling", or_null(listed)}, {"device", placed}}
                     .dump()
              << "\n";
    return;
  }
  if (!graph.title.empty()) std::cout << graph.title << "\n\n";
  print_table(graph, devices, best, times);
  const auto line = [&](const char* name, const std::optional<double>& seconds) {
    std::cout << fmt::format("{:<22}{}\n", name,
                             seconds ? format_seconds(*seconds) : "does not fit the memory");
  };
  std::cout << "\n";
  line("makespan", times.makespan);
  line("lower bound", bound);
  line("on the fastest device", alone);
  line("in turns", turns);
  line("list scheduling", listed);
  if (!arguments.picture.empty()) std::cout << "The picture is " << arguments.picture << ".\n";
}

}  // namespace

void add_place_command(CLI::App& app) {
  const auto arguments = std::make_shared<Arguments>();
  auto* command = app.add_subcommand(
      "place", "Find which operator of a graph should go to which device of a cluster");
  command->add_option("graph", arguments->graph, "A graph file; see docs/pipeline.md")->required();
  command->add_option("--cluster", arguments->cluster, "A cluster file; its hosts are the devices")
      ->required();
  command->add_option("--picture", arguments->picture,
                      "Write an SVG file of what every device does when");
  command->add_option("--steps", arguments->steps, "Placements to try")
      ->check(CLI::Range(1, 100'000'000))
      ->capture_default_str();
  command->add_option("--seed", arguments->seed, "Of the search")->capture_default_str();
  command->add_flag("--json", arguments->json, "One line of JSON instead of tables");
  command->callback([arguments] { place(*arguments); });
}

}  // namespace lockstep
