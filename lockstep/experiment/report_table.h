// A comparison as a table: for the terminal, as Markdown and as CSV. The same cells everywhere.
#pragma once

#include <string>
#include <vector>

#include "lockstep/experiment/comparison.h"

namespace lockstep {

using TableRows = std::vector<std::vector<std::string>>;  // the first has the names of columns

// Line, runs, accuracy ± std, interval, against the baseline, published, seconds, bytes, to target.
TableRows result_table(const Comparison& comparison);

std::string to_markdown(const Comparison& comparison);
std::string to_csv(const Comparison& comparison);  // plain numbers, one line a run

// ▁▂▃▅▇: a curve in the width of a few letters, between `low` and `high`.
std::string sparkline(const std::vector<double>& values, std::size_t width, double low,
                      double high);
// The table with sparklines of validation accuracy against epochs.
std::string to_terminal(const Comparison& comparison);

}  // namespace lockstep
