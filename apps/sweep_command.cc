// `lockstep sweep`: a grid of configurations with several seeds each, as runs beside each other.
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <memory>

#include "apps/command.h"
#include "apps/sweep_display.h"
#include "apps/sweep_runner.h"
#include "lockstep/base/progress.h"
#include "lockstep/base/text.h"
#include "lockstep/base/this_program.h"
#include "lockstep/experiment/run_record.h"
#include "lockstep/transport/thread_budget.h"

namespace lockstep {
namespace {

constexpr int kSomeFailed = 1;

struct Arguments {
  std::string file;
  std::string out;
  std::string scale = "full";
  int jobs = 0;
  bool dry_run = false;
  bool again = false;
};

std::string directory_of(const Arguments& arguments, const SweepFile& sweep) {
  if (!arguments.out.empty()) return arguments.out;
  return arguments.scale == "full" ? "sweeps/" + sweep.name
                                   : fmt::format("sweeps/{}-{}", sweep.name, arguments.scale);
}

const char* to_text(RunState state) {
  switch (state) {
    case RunState::kDone:
      return "done";
    case RunState::kPartial:
      return "begun";
    case RunState::kMissing:
      break;
  }
  return "to do";
}

// The grid: every cell with what it is made of and how far its seeds are.
void print_grid(const SweepFile& sweep, const std::vector<Cell>& cells, const std::string& root,
                int jobs) {
  const auto runs = swept_runs(root, sweep, cells);
  std::vector<std::vector<std::string>> rows{{"cell", "workers", "epochs", "seeds", "state"}};
  std::size_t done = 0;
  double epochs = 0, taken = 0;  // seconds, of those that are done
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Config config = config_of(sweep, cells[i], sweep.seeds.front());
    std::map<std::string, int> states;
    for (const SweptRun& run : runs) {
      if (run.cell != i) continue;
      ++states[to_text(run.state)];
      if (run.state == RunState::kDone) {
        ++done;
        taken += read_run_record(run.paths.root).seconds;
      }
      if (run.state != RunState::kDone) epochs += config.at("train").own().real("epochs");
    }
    std::string state;
    for (const auto& [name, count] : states) {
      state += fmt::format("{}{} {}", state.empty() ? "" : ", ", count, name);
    }
    rows.push_back({describe(sweep, cells[i]), config.at("cluster").text_of("workers"),
                    config.at("train").text_of("epochs"), fmt::format("{}", sweep.seeds.size()),
                    state});
  }
  std::cout << format_table(rows) << "\n"
            << fmt::format(
                   "{} cells of {} seeds: {} runs, {} done. To do: {} epochs, {} run(s) at "
                   "a time.\nDirectory: {}\n",
                   cells.size(), sweep.seeds.size(), runs.size(), done, epochs, jobs, root);
  if (done == 0 || done == runs.size()) return;
  const double left = taken / static_cast<double>(done) * static_cast<double>(runs.size() - done);
  std::cout << fmt::format("By the runs that are done, the rest takes about {}.\n",
                           spoken_seconds(left / std::min<double>(jobs, runs.size() - done)));
}

int terminal_columns() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 80;
}

void sweep_command(const Arguments& arguments) {
  const SweepFile sweep = read_sweep_file(arguments.file, arguments.scale);
  const std::string root = directory_of(arguments, sweep);
  std::vector<Cell> cells = cells_of(sweep);
  const auto runs = static_cast<int>(cells.size() * sweep.seeds.size());
  const int wanted =
      arguments.jobs > 0 ? arguments.jobs : fitting_jobs(sweep, cells, usable_cores());
  const int jobs = std::clamp(wanted, 1, std::max(1, runs));
  if (arguments.dry_run) return print_grid(sweep, cells, root, jobs);

  SweepDirectory directory(root, sweep, std::move(cells), arguments.scale, arguments.again);
  std::cout << fmt::format("{}{}{} cells, {} runs, {} at a time, in {}\n", sweep.title,
                           sweep.title.empty() ? "" : "\n", directory.cells().size(),
                           directory.runs().size(), jobs, root);
  SweepRunner runner(directory, sweep, this_program(), jobs);
  SweepDisplay display(std::cout, stdout_is_terminal(), terminal_columns());
  runner.run([&](const SweepStanding& standing) { display.show(standing); });
  display.close();
  if (!runner.failures().empty()) {
    std::cout << fmt::format("{} of {} runs failed:\n", runner.failures().size(),
                             directory.runs().size());
    for (const RunFailure& one : runner.failures()) {
      std::cout << fmt::format("  {}: {}\n", one.run, one.said);
    }
    std::cout
        << "All that they said is in the .log beside each. Starting the sweep again tries them "
           "again.\n";
  }
  if (runner.interrupted()) {
    std::cout << fmt::format("Interrupted; go on with the same command. Results so far: {}\n",
                             root);
    std::exit(kInterruptedCode);
  }
  std::cout << fmt::format("Done. See what came out with: lockstep report {}\n", root);
  if (!runner.failures().empty()) std::exit(kSomeFailed);
}

}  // namespace

void add_sweep_command(CLI::App& app) {
  const auto arguments = std::make_shared<Arguments>();
  auto* command = app.add_subcommand("sweep", "Run a grid of configurations with several seeds");
  command->add_option("file", arguments->file, "The sweep file; see docs/experiments.md")
      ->required();
  command->add_option("--out", arguments->out,
                      "Directory of the sweep; default: sweeps/NAME, or sweeps/NAME-SCALE");
  command->add_option("--scale", arguments->scale,
                      "\"full\", or one of the file's scales, such as \"small\"");
  command->add_option("--jobs", arguments->jobs, "Runs at a time; 0: as many as the cores allow")
      ->check(CLI::Range(0, 1024));
  command->add_flag("--dry-run", arguments->dry_run,
                    "List the grid and what is still to do, and stop");
  command->add_flag("--again", arguments->again,
                    "Throw away runs that were made with other settings");
  command->footer(
      "Start it again after an interrupt or a crash: what is done stays, what was begun goes on.");
  command->callback([arguments] { sweep_command(*arguments); });
}

}  // namespace lockstep
