// arrivals.jsonl: a line each time the server rests, with who came since then at every place where
// the order of arrival counts; a line where a run was resumed; and at the end of a run the checksum
// of all lines before.
//
//   {"step": 40, "places": [[0, 2, 1, …], …]}
//   {"step": 40, "resumed": true}
//   {"step": 80, "end": true, "crc32c": 305419896}
#pragma once

#include <string>

#include "lockstep/train/serving.h"

namespace lockstep {

// Does the order of arrival count in this run?
bool wants_arrivals(const Job& job);

void append_arrivals(const std::string& path, std::int64_t step, const ArrivalRecord& record);
void end_arrivals(const std::string& path, std::int64_t step);
// A run that goes on after `step`: drops what is beyond, and marks the rest as that of a resumed
// run, which asked for meetings that nobody will ask for again.
void cut_arrivals(const std::string& path, std::int64_t step);
// All lines put together, for a run with so many places and workers. A DataError if the file cannot
// be used, a ConfigError if the run was resumed or is not over.
ArrivalRecord read_arrivals(const std::string& path, int places, int workers);

}  // namespace lockstep
