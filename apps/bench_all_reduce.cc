#include "apps/bench_all_reduce.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <iostream>
#include <map>
#include <memory>

#include "apps/all_reduce_table.h"
#include "apps/all_reduce_timing.h"
#include "apps/component_options.h"
#include "apps/mpi_process.h"
#include "apps/world_choice.h"
#include "lockstep/base/json_lines.h"
#include "lockstep/base/progress.h"
#include "lockstep/base/text.h"
#include "lockstep/collective/agreement.h"
#include "lockstep/transport/waiter.h"

namespace lockstep {
namespace {

constexpr const char* kLibrary = "MPI_Allreduce";

struct Arguments {
  WorldChoice world;
  std::string ranks = "2,4";
  std::string sizes = "4K,64K,1M,16M,128M";
  std::string algorithm = "all";
  std::string op = "mean";
  int repeats = 0;
  bool json = false;
  std::vector<std::string> settings;
};

struct Plan {
  std::vector<int> ranks;
  std::vector<std::size_t> sizes;  // bytes
  std::vector<std::string> algorithms;
  std::map<std::string, Options> options;
  ReduceOp op = ReduceOp::kMean;
  TimingPlan timing;
};

Plan make_plan(const Arguments& arguments) {
  Plan plan;
  plan.op = parse_reduce_op(arguments.op);
  for (const auto& text : split(arguments.ranks, ',')) {
    const auto ranks = parse_integer(text, "--ranks");
    if (ranks < 1 || ranks > 65536) throw ConfigError("--ranks: {} is not from 1 to 65536", ranks);
    plan.ranks.push_back(static_cast<int>(ranks));
  }
  for (const auto& text : split(arguments.sizes, ',')) {
    plan.sizes.push_back(parse_size(text, "--sizes") / sizeof(float) * sizeof(float));
    if (plan.sizes.back() == 0) {
      throw ConfigError("--sizes: {} is less than one float (4 bytes)", text);
    }
  }
  if (plan.ranks.empty()) throw ConfigError("--ranks is empty; write numbers such as 2,4");
  if (plan.sizes.empty()) throw ConfigError("--sizes is empty; write sizes such as 64K,16M");
  const auto& registry = Registry<AllReduce>::instance();
  plan.algorithms =
      arguments.algorithm == "all" ? registry.names() : split(arguments.algorithm, ',');
  if (plan.algorithms.empty()) throw ConfigError("--algorithm is empty; write all, or names");
  if (plan.algorithms.size() > 1 && !arguments.settings.empty()) {
    throw ConfigError("--set is for one algorithm; choose it with --algorithm");
  }
  for (const auto& name : plan.algorithms) {
    plan.options[name] = component_options(registry, name, arguments.settings);
  }
  if (arguments.repeats < 0) throw ConfigError("--repeats: {} is negative", arguments.repeats);
  if (arguments.repeats > 0) plan.timing = {0, arguments.repeats, arguments.repeats};
  return plan;
}

// All ranks of this machine hold a vector, a scratch copy, and what is under way.
void check_memory(const Plan& plan, const World& world) {
  const double have =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  const int ranks = world.ranks_here(*std::max_element(plan.ranks.begin(), plan.ranks.end()));
  const double need =
      2.5 * static_cast<double>(*std::max_element(plan.sizes.begin(), plan.sizes.end())) * ranks;
  if (need <= have) return;
  throw ConfigError("--sizes and --ranks together need about {}; this machine has {} of memory",
                    format_size(static_cast<std::size_t>(need)),
                    format_size(static_cast<std::size_t>(have)));
}

// The registered algorithms of the plan, made for this rank and ready, and the library's own.
// `findings` gets what those that measure first have found.
std::vector<TimedAlgorithm> timed_algorithms(const Plan& plan, Group& group,
                                             std::string& findings) {
  std::vector<TimedAlgorithm> timed;
  for (const auto& name : plan.algorithms) {
    std::shared_ptr<AllReduce> made =
        Registry<AllReduce>::instance().make(name, plan.options.at(name));
    made->prepare(group);
    if (const std::string found = made->findings(); !found.empty()) {
      findings += fmt::format("{}, {} ranks:\n{}\n", name, group.size(), trim(found));
    }
    timed.push_back({name, [made, &group, op = plan.op](std::span<float> data) {
                       made->run(group, data, op);
                     }});
  }
  float probe = 0;
  if (library_all_reduce(group.transport(), {&probe, 1}, ReduceOp::kSum)) {
    timed.push_back({kLibrary, [&group, op = plan.op](std::span<float> data) {
                       library_all_reduce(group.transport(), data, op);
                     }});
  }
  return timed;
}

RunFacts facts_of(const Plan& plan, int ranks) {
  RunFacts facts;
  facts.add("command", "bench allreduce");
  facts.add("ranks", static_cast<std::size_t>(ranks));
  facts.add("algorithms", fmt::format("{}", fmt::join(plan.algorithms, ",")));
  facts.add("sizes", fmt::format("{}", fmt::join(plan.sizes, ",")));
  facts.add("operator", to_string(plan.op));
  facts.add("repetitions", fmt::format("{} to {} in {} s", plan.timing.least, plan.timing.most,
                                       plan.timing.budget));
  for (const auto& [name, options] : plan.options) facts.add(name, options.to_toml());
  return facts;
}

void bench(Arguments arguments) {
  settle_world(arguments.world);
  Plan plan = make_plan(arguments);
  if (arguments.world.name == "mpi" && !under_mpi()) {
    const int code =
        run_again_under_mpirun(*std::max_element(plan.ranks.begin(), plan.ranks.end()));
    if (code != 0) std::exit(code);
    return;
  }
  const auto world = make_world(arguments.world);
  for (const int ranks : plan.ranks) {
    check_ranks(
        ranks, world->most_ranks(),
        under_mpi() ? "mpirun started" : fmt::format("the {} world has", arguments.world.name));
  }
  check_memory(plan, *world);
  if (world->leads()) {
    for (const int ranks : plan.ranks) {
      std::cerr << fmt::format("{}: {}\n", arguments.world.name, world->describe(ranks));
    }
  }

  AllReduceResults results;
  std::string findings;
  // In a terminal the lines of JSON themselves show how far it is.
  const bool quiet = arguments.json && stdout_is_terminal();
  Progress progress("measuring", quiet ? 0 : plan.ranks.size() * plan.sizes.size());
  std::uint64_t done = 0;
  JsonLines lines(std::cout);
  for (const int ranks : plan.ranks) {
    world->run(ranks, [&](Transport& transport) {
      Group group(transport);
      require_agreement(group, facts_of(plan, ranks));
      std::string found;
      const auto algorithms = timed_algorithms(plan, group, found);
      if (transport.rank() == 0) findings += found;
      for (const std::size_t bytes : plan.sizes) {
        const bool speaks = transport.rank() == 0;
        if (speaks && !quiet) {
          progress.update(done, wall_seconds(),
                          fmt::format("{} ranks, {}", ranks, format_size(bytes)));
        }
        const auto samples =
            time_in_turns(group, algorithms, plan.op, bytes / sizeof(float), plan.timing);
        if (!speaks) continue;
        ++done;
        for (std::size_t a = 0; a < algorithms.size(); ++a) {
          results.push_back({algorithms[a].name, ranks, bytes, summarise(samples[a])});
          if (arguments.json) lines.write(to_json(arguments.world.name, results.back()));
        }
      }
    });
  }
  if (!world->leads()) return;
  if (!quiet) progress.update(done, wall_seconds());
  if (!arguments.json) {
    std::cout << "\n" << details(results) << comparison(results);
    if (!findings.empty()) std::cout << "\n" << findings;
  }
}

}  // namespace

void add_bench_all_reduce(CLI::App& bench_app) {
  const auto arguments = std::make_shared<Arguments>();
  auto* command = bench_app.add_subcommand(
      "allreduce",
      "Time the all-reduce algorithms beside each other; on sim the times are virtual");
  add_world_options(*command, arguments->world);
  command->add_option("--ranks", arguments->ranks, "How many ranks, such as 2,4")
      ->capture_default_str();
  command->add_option("--sizes", arguments->sizes, "Bytes of the vector, such as 64K,16M")
      ->capture_default_str();
  command
      ->add_option("--algorithm", arguments->algorithm,
                   "all, or names of `lockstep list allreduce` separated by commas")
      ->capture_default_str();
  command->add_option("--op", arguments->op, "sum, mean, max or min")->capture_default_str();
  command
      ->add_option("--repeats", arguments->repeats,
                   "Repetitions of each; 0 takes as many as fit half a second, 5 to 200")
      ->capture_default_str();
  command->add_flag("--json", arguments->json, "One JSON object a line instead of tables");
  add_set_option(*command, arguments->settings);
  command->callback([arguments] { bench(*arguments); });
}

}  // namespace lockstep
