// The program: reads the command line, runs one subcommand, turns errors into a sentence and an
// exit code.
#include <fmt/format.h>

#include <iostream>

#include "apps/command.h"
#include "apps/mpi_process.h"
#include "lockstep/base/error.h"
#include "lockstep/base/text.h"

namespace lockstep {
namespace {

constexpr const char* kVersion = "0.1.0";

// CLI11 says "not expected"; say what there is instead.
void check_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return;
  std::vector<std::string> names;
  for (const auto* command : app.get_subcommands({})) names.push_back(command->get_name());
  if (std::find(names.begin(), names.end(), argv[1]) == names.end()) {
    throw ConfigError("{}", unknown_name("command", argv[1], names));
  }
}

int run(int argc, char** argv) {
  CLI::App app{
      "Lockstep trains deep networks on many workers: in lockstep, or deliberately out of it."};
  app.name("lockstep");
  app.set_version_flag("--version", kVersion);
  app.require_subcommand(1);
  app.footer("Errors end with a sentence and a code: 2 configuration, 3 data, 4 communication.");
  add_list_command(app);
  add_explain_command(app);
  add_bench_command(app);
  try {
    check_command(app, argc, argv);
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
  become_mpi_process(argc, argv);
  int code = 1;
  std::string message;
  try {
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
