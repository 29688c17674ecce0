// Runs what a sweep still lacks, several runs at a time, each a process of its own: a run that
// fails fails alone.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <vector>

#include "apps/child_process.h"
#include "lockstep/experiment/sweep_directory.h"

namespace lockstep {

struct RunFailure {
  std::string run;  // its directory
  std::string said;
};

// What is under way, for whoever shows it.
struct SweepStanding {
  struct Running {
    std::string title;
    double share = 0;  // done, 0 to 1
  };
  std::size_t runs = 0, done = 0, failed = 0;
  std::vector<Running> running;
  double seconds = 0;             // since the sweep began
  double left = -1;               // seconds, as far as can be told; −1: not yet
  std::vector<std::string> news;  // since it was last shown: runs that have ended
};

class SweepRunner {
 public:
  SweepRunner(SweepDirectory& directory, const SweepFile& sweep, std::string program, int jobs);

  // Shows where it stands about five times a second. Returns when all is done, or nothing is under
  // way any more after an interrupt.
  void run(const std::function<void(const SweepStanding&)>& show);
  const std::vector<RunFailure>& failures() const { return failures_; }
  bool interrupted() const { return interrupted_; }

 private:
  struct UnderWay {
    SweptRun* run;
    std::unique_ptr<Child> child;
    double began;
    double share_before;  // of an earlier sitting
    std::size_t slot;     // which share of the cores it has
  };

  void start_next();
  std::size_t free_slot() const;
  void look_at(UnderWay& one, const ChildOutcome& outcome);
  double share_of(const SweptRun& run) const;
  double seconds_left() const;
  SweepStanding standing();
  std::string title_of(const SweptRun& run) const;

  struct Length {
    double steps, epochs;  // of a run; steps 0: by epochs
  };

  SweepDirectory& directory_;
  const SweepFile& sweep_;
  std::vector<Length> lengths_;  // by cell
  std::string program_;
  std::size_t jobs_;
  std::vector<SweptRun*> waiting_;  // the next one last
  std::list<UnderWay> under_way_;
  std::vector<RunFailure> failures_;
  std::vector<double> durations_;  // seconds of runs that were made as a whole
  std::vector<std::string> news_;
  std::size_t done_ = 0;
  double began_ = 0;
  bool interrupted_ = false;
};

// How many runs fit the cores at once.
int fitting_jobs(const SweepFile& sweep, const std::vector<Cell>& cells, int cores);

}  // namespace lockstep
