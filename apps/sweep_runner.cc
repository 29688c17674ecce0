#include "apps/sweep_runner.h"

#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <numeric>

#include "apps/command.h"
#include "apps/run_configuration.h"
#include "lockstep/base/error.h"
#include "lockstep/base/text.h"
#include "lockstep/experiment/run_record.h"
#include "lockstep/train/interrupt.h"
#include "lockstep/transport/waiter.h"

namespace lockstep {
namespace {

constexpr int kLookMilliseconds = 200;

// The last whole line of a run's metrics, or nothing.
Json last_metrics(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  file.seekg(0, std::ios::end);
  const auto size = static_cast<std::int64_t>(file.tellg());
  constexpr std::int64_t kEnough = 8192;
  if (!file || size <= 0) return nullptr;
  const std::int64_t begin = std::max<std::int64_t>(0, size - kEnough);
  std::string tail(static_cast<std::size_t>(size - begin), '\0');
  file.seekg(begin);
  file.read(tail.data(), static_cast<std::streamsize>(tail.size()));
  const auto end = tail.rfind('\n');
  if (end == std::string::npos || end == 0) return nullptr;
  const auto start = tail.rfind('\n', end - 1);
  const auto from = start == std::string::npos ? 0 : start + 1;
  return Json::parse(tail.substr(from, end - from), nullptr, false);
}

double number_at(const Json& object, const char* key) {
  if (!object.is_object() || !object.contains(key) || !object[key].is_number()) return 0;
  return object[key];
}

// "91.20 %"
std::string accuracy_of(const RunPaths& paths) {
  const auto accuracy = read_run_record(paths.root).final_validation();
  return accuracy ? fmt::format("{:.2f} %", 100 * *accuracy) : "no validation";
}

// While it lives, this thread has only its share of the cores, and so have programs that it starts.
class CoreShare {
 public:
  CoreShare(std::size_t slot, std::size_t slots) {
    if (sched_getaffinity(0, sizeof before_, &before_) != 0) return;
    std::vector<int> cores;
    for (int i = 0; i < CPU_SETSIZE; ++i) {
      if (CPU_ISSET(i, &before_)) cores.push_back(i);
    }
    if (slots > cores.size() || slots == 1) return;  // then they share all
    cpu_set_t share;
    CPU_ZERO(&share);
    // Equal shares, for results may depend on the number of threads in their last bits.
    const std::size_t each = cores.size() / slots;
    for (std::size_t i = 0; i < each; ++i) CPU_SET(cores[slot * each + i], &share);
    changed_ = sched_setaffinity(0, sizeof share, &share) == 0;
  }
  ~CoreShare() {
    if (changed_) sched_setaffinity(0, sizeof before_, &before_);
  }
  CoreShare(const CoreShare&) = delete;
  CoreShare& operator=(const CoreShare&) = delete;

 private:
  cpu_set_t before_;
  bool changed_ = false;
};

}  // namespace

int fitting_jobs(const SweepFile& sweep, const std::vector<Cell>& cells, int cores) {
  int most = 1;  // cores that a run takes
  for (const Cell& cell : cells) {
    const Config config = config_of(sweep, cell, sweep.seeds.front());
    const Options& cluster = config.at("cluster").own();
    if (cluster.text("world") == "sim") continue;  // all ranks take turns on one core
    const auto threads = std::max<std::int64_t>(1, cluster.integer("threads"));
    most = std::max(most, planned_ranks(config) * static_cast<int>(threads));
  }
  return std::max(1, cores / most);
}

SweepRunner::SweepRunner(SweepDirectory& directory, const SweepFile& sweep, std::string program,
                         int jobs)
    : directory_(directory),
      sweep_(sweep),
      program_(std::move(program)),
      jobs_(static_cast<std::size_t>(jobs)) {
  for (const Cell& cell : directory.cells()) {
    const Config config = config_of(sweep, cell, sweep.seeds.front());
    const Options& train = config.at("train").own();
    lengths_.push_back({static_cast<double>(train.integer("steps")), train.real("epochs")});
  }
  // A seed of all cells first, then the next: the table fills evenly.
  const std::size_t seeds = sweep.seeds.size();
  auto& runs = directory_.runs();
  for (std::size_t s = 0; s < seeds; ++s) {
    for (std::size_t i = s; i < runs.size(); i += seeds) {
      if (runs[i].state == RunState::kDone) {
        ++done_;
      } else {
        waiting_.push_back(&runs[i]);
      }
    }
  }
  std::ranges::reverse(waiting_);
}

std::string SweepRunner::title_of(const SweptRun& run) const {
  return fmt::format("{}, seed {}", describe(sweep_, directory_.cells()[run.cell]), run.seed);
}

std::size_t SweepRunner::free_slot() const {
  std::size_t slot = 0;
  while (std::ranges::find(under_way_, slot, &UnderWay::slot) != under_way_.end()) ++slot;
  return slot;
}

void SweepRunner::start_next() {
  SweptRun* const run = waiting_.back();
  waiting_.pop_back();
  std::vector<std::string> command{program_, "train", "--quiet"};
  const double before = run->state == RunState::kPartial ? share_of(*run) : 0;
  if (run->state == RunState::kPartial) {
    command.insert(command.end(), {"--resume", run->paths.root});
    // Resuming elsewhere is a user's choice; a sweep goes on where it was.
    const std::string world =
        config_of(sweep_, directory_.cells()[run->cell], run->seed).at("cluster").text_of("world");
    if (!world.empty()) command.insert(command.end(), {"--world", world});
  } else {
    command.insert(command.end(), {run->config, "--out", run->paths.root});
  }
  const std::size_t slot = free_slot();
  const CoreShare cores(slot, jobs_);  // a child inherits it
  under_way_.push_back({run, std::make_unique<Child>(std::move(command), ".", run->log),
                        wall_seconds(), before, slot});
}

double SweepRunner::share_of(const SweptRun& run) const {
  const Json last = last_metrics(run.paths.metrics());
  const Length& length = lengths_[run.cell];
  const double share = length.steps > 0 ? number_at(last, "step") / length.steps
                                        : number_at(last, "epoch") / length.epochs;
  return std::clamp(share, 0.0, 1.0);
}

void SweepRunner::look_at(UnderWay& one, const ChildOutcome& outcome) {
  one.run->state = state_of(one.run->paths);
  if (outcome.code == 0 && one.run->state == RunState::kDone) {
    ++done_;
    const double seconds = wall_seconds() - one.began;
    if (one.share_before == 0) durations_.push_back(seconds);
    news_.push_back(fmt::format("{}: {} in {}", title_of(*one.run), accuracy_of(one.run->paths),
                                trim(format_seconds(seconds))));
    return;
  }
  const bool stopped = interrupted_ && (outcome.code == kInterruptedCode || outcome.code > 128);
  if (stopped) return;
  const std::string said = outcome.code == 0 ? "it left no summary" : outcome.said;
  failures_.push_back({one.run->paths.root, said});
  news_.push_back(fmt::format("{}: FAILED: {}", title_of(*one.run), said));
}

// By the mean of the runs that were made; until one was, by what is under way.
double SweepRunner::seconds_left() const {
  double each = 0;
  if (!durations_.empty()) {
    each = std::accumulate(durations_.begin(), durations_.end(), 0.0) /
           static_cast<double>(durations_.size());
  } else {
    for (const UnderWay& one : under_way_) {
      const double share = share_of(*one.run) - one.share_before;
      if (share > 0.02) each = std::max(each, (wall_seconds() - one.began) / share);
    }
  }
  if (each == 0) return -1;
  const std::size_t runs = waiting_.size() + under_way_.size();
  double left = each * static_cast<double>(waiting_.size());
  for (const UnderWay& one : under_way_) left += each * (1 - share_of(*one.run));
  return left / static_cast<double>(std::clamp<std::size_t>(runs, 1, jobs_));
}

SweepStanding SweepRunner::standing() {
  SweepStanding standing;
  standing.runs = directory_.runs().size();
  standing.done = done_;
  standing.failed = failures_.size();
  for (const UnderWay& one : under_way_) {
    standing.running.push_back({title_of(*one.run), share_of(*one.run)});
  }
  standing.seconds = wall_seconds() - began_;
  standing.left = seconds_left();
  standing.news = std::exchange(news_, {});
  return standing;
}

void SweepRunner::run(const std::function<void(const SweepStanding&)>& show) {
  const InterruptWatch watch;
  // A sweep that is killed leaves nobody at its files.
  setenv(kEndsWithParent, std::to_string(getpid()).c_str(), 1);
  began_ = wall_seconds();
  for (;;) {
    while (!interrupted_ && !waiting_.empty() && under_way_.size() < jobs_) start_next();
    if (interrupt_signal() != 0 && !interrupted_) {
      interrupted_ = true;
      // Where the terminal has told them already, this changes nothing.
      for (UnderWay& one : under_way_) one.child->signal(SIGTERM);
    }
    for (auto one = under_way_.begin(); one != under_way_.end();) {
      const auto outcome = one->child->outcome();
      if (outcome) look_at(*one, *outcome);
      one = outcome ? under_way_.erase(one) : std::next(one);
    }
    show(standing());
    if (under_way_.empty() && (interrupted_ || waiting_.empty())) return;
    poll(nullptr, 0, kLookMilliseconds);
  }
}

}  // namespace lockstep
