// What several assignments need: dealing, and the sentences about what divides what.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "lockstep/assign/assignment.h"

namespace lockstep {

// Dealt like cards to `hands` players: number `hand` gets places hand, hand + hands, …
std::vector<SampleId> deal(std::span<const SampleId> samples, int hands, int hand);

// Sample i goes to worker holders[i].
Shards hand_out(std::span<const SampleId> samples, std::span<const int> holders, int workers);

// "assignment coarse: shards = 3 must divide the 16 workers: 1, 2, 4, 8 or 16"
void check_divides(const std::string& assignment, const std::string& option, int value, int number,
                   const std::string& of_what);

// Whether `copies` of a sample fit on the workers.
void check_copies(const std::string& assignment, int copies, int workers);

// The option every assignment with a choice of C has.
void add_copies_option(OptionSet& options);

}  // namespace lockstep
