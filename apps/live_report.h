// A report of runs that are still going on: made anew when their files have changed.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "lockstep/experiment/comparison.h"

namespace lockstep {

class LiveReport {
 public:
  LiveReport(std::vector<std::string> paths, ComparisonOptions options)
      : paths_(std::move(paths)), options_(std::move(options)) {}

  // Changes whenever the runs have: another number of runs, lines or bytes.
  std::uint64_t signature() const;
  // For any number of threads. Where there is nothing yet, a page that says so.
  std::string page();
  std::string data();  // the same numbers as JSON on one line; "" where there is nothing yet

 private:
  void refresh();

  std::vector<std::string> paths_;
  ComparisonOptions options_;
  std::mutex mutex_;
  std::uint64_t made_from_ = 0;
  std::string page_, data_;
};

}  // namespace lockstep
