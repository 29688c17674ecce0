// The subcommands of the program. Each adds itself to the command line and returns at once; what it
// does runs when it was chosen.
#pragma once

#include <CLI/CLI.hpp>

namespace lockstep {

inline constexpr int kInterruptedCode = 130;  // what a shell expects after Ctrl-C

void add_list_command(CLI::App& app);
void add_explain_command(CLI::App& app);
void add_bench_command(CLI::App& app);
void add_data_command(CLI::App& app);
void add_train_command(CLI::App& app);
void add_eval_command(CLI::App& app);
void add_timeline_command(CLI::App& app);
void add_place_command(CLI::App& app);
void add_sweep_command(CLI::App& app);
void add_report_commands(CLI::App& app);  // report, compare
void add_serve_command(CLI::App& app);

}  // namespace lockstep
