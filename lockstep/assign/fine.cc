// Every sample on C workers, so that all workers have equally many and any two have (nearly)
// equally many in common: N·C(C−1)/(M(M−1)).
//
// Going through all subsets of C workers would balance exactly, but there are far more of them than
// samples. Instead each sample picks its workers one by one: first those that have the fewest
// samples, among these the one that has the fewest in common with the workers already picked. What
// one sample leaves uneven the next ones even out, so the differences stay at a few samples however
// many there are. Where C > M/2 the M−C workers that go without are picked instead: if their
// absences are balanced, so are their presences. A sample costs at most M·M/2 additions.
#include <algorithm>
#include <limits>

#include "lockstep/assign/sharing.h"
#include "lockstep/base/random.h"

namespace lockstep {
namespace {

// Picks subsets of the workers, one after another, that balance each other.
class BalancedSubsets {
 public:
  BalancedSubsets(int workers, int size, std::uint64_t seed)
      : workers_(static_cast<std::size_t>(workers)),
        size_(size),
        together_(workers_ * workers_),
        load_(workers_),
        score_(workers_),
        picked_(workers_),
        random_(seed, "fine") {}

  // For each worker 1 if it is in the next subset, else 0.
  const std::vector<int>& next() {
    const int least = *std::min_element(load_.begin(), load_.end());
    for (std::size_t w = 0; w < workers_; ++w) {
      score_[w] = (load_[w] - least) * kLoadFirst;
      picked_[w] = 0;
    }
    std::vector<std::size_t> members;
    for (int k = 0; k < size_; ++k) members.push_back(pick());
    for (const std::size_t member : members) {
      ++load_[member];
      int* const row = &together_[member * workers_];
      for (std::size_t w = 0; w < workers_; ++w) row[w] += picked_[w];
    }
    if (++made_ % kSamplesBetweenLevelling == 0) level();
    return picked_;
  }

 private:
  // Above any sum of differences in common, and four of it still an int.
  static constexpr int kLoadFirst = 1 << 28;
  static constexpr int kTaken = std::numeric_limits<int>::max();
  static constexpr std::size_t kSamplesBetweenLevelling = 64;

  std::size_t pick() {
    int best = kTaken;
    for (const int score : score_) best = std::min(best, score);
    // Ties are common. To break them by any rule leads into cycles that never meet some pairs.
    std::size_t worker = random_.below(workers_);
    while (score_[worker] != best) worker = worker + 1 == workers_ ? 0 : worker + 1;

    const int* const row = &together_[worker * workers_];
    for (std::size_t w = 0; w < workers_; ++w) score_[w] += picked_[w] != 0 ? 0 : row[w];
    score_[worker] = kTaken;
    picked_[worker] = 1;
    return worker;
  }

  // Only differences count; taking the smallest away from all keeps the sums small.
  void level() {
    int least = std::numeric_limits<int>::max();
    for (std::size_t a = 0; a < workers_; ++a) {
      for (std::size_t b = 0; b < a; ++b) least = std::min(least, together_[a * workers_ + b]);
    }
    for (int& count : together_) count -= least;
  }

  std::size_t workers_;
  int size_;
  std::vector<int> together_;  // worker × worker: samples in common, up to a constant
  std::vector<int> load_;
  std::vector<int> score_;  // of the subset being made: the lowest is picked next
  std::vector<int> picked_;
  Random random_;
  std::size_t made_ = 0;
};

class Fine : public Assignment {
 public:
  explicit Fine(int copies) : copies_(copies) {}

  double copies(const Layout& layout) const override {
    check_copies("fine", copies_, layout.workers);
    return copies_;
  }

 private:
  Shards share_out(const SampleSet& set, const Layout& layout, std::uint64_t seed) const override {
    check_copies("fine", copies_, layout.workers);
    const bool absences = 2 * copies_ > layout.workers;
    BalancedSubsets subsets(layout.workers, absences ? layout.workers - copies_ : copies_, seed);
    Shards shards;
    shards.of.resize(static_cast<std::size_t>(layout.workers));
    for (const SampleId sample : set.samples) {
      const auto& picked = subsets.next();
      for (std::size_t w = 0; w < picked.size(); ++w) {
        if ((picked[w] != 0) != absences) shards.of[w].push_back(sample);
      }
    }
    return shards;
  }

  int copies_;
};

OptionSet fine_options() {
  OptionSet options = sampling_options();
  add_copies_option(options);
  return options;
}

const Registration<Assignment> kFine{
    "fine", "Any two workers have equally many samples in common.", fine_options(),
    [](const Options& options) {
      return std::make_unique<Fine>(static_cast<int>(options.integer("copies")));
    }};

}  // namespace
}  // namespace lockstep
