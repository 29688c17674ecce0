// The program: reads the command line, runs one subcommand, turns errors into a sentence and an
// exit code.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iostream>

#include "apps/child_process.h"
#include "apps/command.h"
#include "apps/mpi_process.h"
#include "lockstep/base/error.h"
#include "lockstep/base/text.h"

namespace lockstep {
namespace {

constexpr const char* kVersion = "0.1.0";

// CLI11 says "not expected" or "required"; say what there is instead.
void check_commands(const CLI::App& app, int argc, char** argv) {
  const CLI::App* at = &app;
  std::string what = "command";
  for (int i = 1;; ++i) {
    std::vector<std::string> names;
    for (const auto* command : at->get_subcommands({})) names.push_back(command->get_name());
    if (names.empty() || (i < argc && argv[i][0] == '-')) return;
    if (i == argc)
      throw ConfigError("which {}? Valid: {} (see --help)", what, fmt::join(names, ", "));
    if (std::find(names.begin(), names.end(), argv[i]) == names.end()) {
      throw ConfigError("{}", unknown_name(what, argv[i], names));
    }
    at = at->get_subcommand(argv[i]);
    what = fmt::format("{} command", argv[i]);
  }
}

int run(int argc, char** argv) {
  CLI::App app{
      "Lockstep trains deep networks on many workers: in lockstep, or deliberately out of it."};
  app.name("lockstep");
  app.set_version_flag("--version", kVersion);
  app.require_subcommand(1);
  app.footer(
      "Errors end with a sentence and a code: 2 configuration, 3 data, 4 communication, 5 "
      "training.");
  add_train_command(app);
  add_eval_command(app);
  add_timeline_command(app);
  add_place_command(app);
  add_sweep_command(app);
  add_report_commands(app);
  add_serve_command(app);
  add_list_command(app);
  add_explain_command(app);
  add_bench_command(app);
  add_data_command(app);
  try {
    check_commands(app, argc, argv);
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);  // --help, --version
    throw ConfigError("{} (see --help)", e.what());
  }
  return 0;
}

}  // namespace
}  // namespace lockstep

int main(int argc, char** argv) {
  using namespace lockstep;
  int code = 1;
  std::string message;
  try {
    end_with_parent_if_told();
    become_mpi_process(argc, argv);
    return run(argc, argv);
  } catch (const Error& e) {
    code = e.exit_code();
    message = e.what();
  } catch (const std::exception& e) {
    message = e.what();
  }
  std::cout << std::flush;
  leave_with_error(code, message);
}
