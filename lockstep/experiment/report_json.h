// A comparison as JSON: all numbers of a report, for the page, for other programs and for tests.
#pragma once

#include "lockstep/base/json_lines.h"
#include "lockstep/experiment/comparison.h"

namespace lockstep {

// Curves of at most `most_points` points, all lines together.
Json to_json(const Comparison& comparison, std::size_t most_points = 60000);

// "***", "**", "*" below 0.1 %, 1 %, 5 %; "" otherwise or where nothing could be tested.
std::string significance(const Line& line);
// How a user makes the run again.
std::string reproduce_command(const RunRecord& run);
// "Welch's t-test, two-tailed, Holm over 4 lines"
std::string describe_test(const Comparison& comparison);
std::string describe_deviation(const Comparison& comparison);  // which one stands behind ±

}  // namespace lockstep
