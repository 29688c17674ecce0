// Every sample on one worker, in given proportions. Samples are dealt in turn, each to the worker
// that is furthest behind its share; with equal weights that is `disjoint`.
#include <cmath>
#include <numeric>

#include "lockstep/assign/sharing.h"

namespace lockstep {
namespace {

class Unequal : public Assignment {
 public:
  explicit Unequal(std::vector<double> weights) : weights_(std::move(weights)) {
    for (const double weight : weights_) {
      if (!(weight > 0) || !std::isfinite(weight)) {
        throw ConfigError("assignment unequal: weight {} must be greater than 0", weight);
      }
    }
  }

  double copies(const Layout&) const override { return 1; }

 private:
  Shards share_out(const SampleSet& set, const Layout& layout, std::uint64_t) const override {
    auto weights = weights_;
    const auto workers = static_cast<std::size_t>(layout.workers);
    if (weights.empty()) weights.assign(workers, 1);
    if (weights.size() != workers) {
      throw ConfigError("assignment unequal: {} weights for {} workers; there must be one each",
                        weights.size(), workers);
    }
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    std::vector<double> held(workers);
    std::vector<int> holders;
    for (std::size_t i = 0; i < set.samples.size(); ++i) {
      std::size_t next = 0;
      double most = -1;
      for (std::size_t w = 0; w < workers; ++w) {
        const double behind = weights[w] / sum * static_cast<double>(i + 1) - held[w];
        if (behind > most) {
          most = behind;
          next = w;
        }
      }
      held[next] += 1;
      holders.push_back(static_cast<int>(next));
    }
    return hand_out(set.samples, holders, layout.workers);
  }

  std::vector<double> weights_;
};

OptionSet unequal_options() {
  OptionSet options = sampling_options();
  options.reals("weights", {}, "one a worker: its share of the samples; none: equal shares");
  return options;
}

const Registration<Assignment> kUnequal{
    "unequal", "Every sample on one worker, in given proportions.", unequal_options(),
    [](const Options& options) { return std::make_unique<Unequal>(options.reals("weights")); }};

}  // namespace
}  // namespace lockstep
