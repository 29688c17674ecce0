// arrivals.jsonl: a line each time the server rests, with who came since then at every place where
// the order of arrival counts. {"step": 40, "places": [[0, 2, 1, …], …]}
#pragma once

#include <string>

#include "lockstep/train/serving.h"

namespace lockstep {

// Does the order of arrival count in this run?
bool wants_arrivals(const Job& job);

void append_arrivals(const std::string& path, std::int64_t step, const ArrivalRecord& record);
// A new run, or one that goes on after `step`: drops what is beyond.
void cut_arrivals(const std::string& path, std::int64_t step);
// All lines put together, for a run with so many places and workers. A DataError if the file cannot
// be used.
ArrivalRecord read_arrivals(const std::string& path, int places, int workers);

}  // namespace lockstep
