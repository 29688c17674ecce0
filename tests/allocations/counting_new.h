// Counts what the program asks of operator new: the whole program, on all threads.
#pragma once

#include <cstdint>
#include <string>

namespace lockstep {

// From here on, until the next call of either.
void start_counting_allocations();
// How many there were.
std::int64_t stop_counting_allocations();
// Where they came from, function by function.
std::string allocating_places();

}  // namespace lockstep
