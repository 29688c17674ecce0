// Every sample on one worker, but classes unevenly: what share of a class each worker has is drawn
// from a Dirichlet distribution (Hsu, Qi, Brown 2019). Large α: all nearly alike; small α: a class
// sits on few workers, as data that were gathered in different places do.
#include <algorithm>
#include <cmath>
#include <map>

#include "lockstep/assign/sampling.h"
#include "lockstep/assign/sharing.h"
#include "lockstep/base/random.h"

namespace lockstep {
namespace {

constexpr int kAttempts = 100;  // to leave no worker without samples

// The logarithm of a gamma variate with mean `shape` (Marsaglia & Tsang 2000). Small shapes give
// values that would underflow; their logarithms do not.
double log_gamma_variate(Random& random, double shape) {
  if (shape < 1) {
    const double boost = std::log(1 - random.uniform()) / shape;
    return log_gamma_variate(random, shape + 1) + boost;
  }
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = random.normal(), v = std::pow(1 + c * x, 3);
    const double u = 1 - random.uniform();
    if (v > 0 && std::log(u) < 0.5 * x * x + d - d * v + d * std::log(v)) return std::log(d * v);
  }
}

std::vector<double> dirichlet(Random& random, double alpha, int count) {
  std::vector<double> shares;
  for (int i = 0; i < count; ++i) shares.push_back(log_gamma_variate(random, alpha));
  const double largest = *std::max_element(shares.begin(), shares.end());
  double sum = 0;
  for (double& share : shares) sum += share = std::exp(share - largest);
  for (double& share : shares) share /= sum;
  return shares;
}

class LabelSkew : public Assignment {
 public:
  explicit LabelSkew(double alpha) : alpha_(alpha) {}

  double copies(const Layout&) const override { return 1; }

 private:
  Shards share_out(const SampleSet& set, const Layout& layout, std::uint64_t seed) const override {
    if (set.labels.empty()) {
      throw ConfigError("assignment label-skew needs a data set with a class for every sample");
    }
    std::map<std::int64_t, std::vector<std::size_t>> classes;
    for (std::size_t i = 0; i < set.labels.size(); ++i) classes[set.labels[i]].push_back(i);
    for (std::uint64_t attempt = 0; attempt < kAttempts; ++attempt) {
      std::vector<int> holders(set.samples.size());
      for (const auto& [label, members] : classes) {
        Random random(seed, "label-skew", static_cast<std::uint64_t>(label), attempt);
        const auto shares = dirichlet(random, alpha_, layout.workers);
        double until = 0;
        std::size_t at = 0;
        for (int w = 0; w < layout.workers; ++w) {
          until += shares[static_cast<std::size_t>(w)];
          const bool last = w + 1 == layout.workers;  // rounding must leave nobody out
          const auto end = last ? members.size()
                                : static_cast<std::size_t>(std::llround(
                                      std::min(1.0, until) * static_cast<double>(members.size())));
          for (; at < end; ++at) holders[members[at]] = w;
        }
      }
      Shards shards = hand_out(set.samples, holders, layout.workers);
      const auto empty = [](const auto& shard) { return shard.empty(); };
      if (std::none_of(shards.of.begin(), shards.of.end(), empty)) return shards;
    }
    throw ConfigError(
        "assignment label-skew: with alpha = {} some of {} workers would have no samples of {}, in "
        "each of {} draws; use a larger alpha or fewer workers",
        alpha_, layout.workers, set.samples.size(), kAttempts);
  }

  double alpha_;
};

OptionSet label_skew_options() {
  OptionSet options = sampling_options();
  options.real("alpha", 0.5, "how even the classes are: small is skewed, large is even")
      .at_least(1e-3)
      .at_most(1e6);
  return options;
}

const Registration<Assignment> kLabelSkew{
    "label-skew", "Every sample on one worker, classes unevenly (Dirichlet).", label_skew_options(),
    [](const Options& options) {
      if (Sampling::from(options).scope == Scope::kGlobal) {
        throw ConfigError(
            "assignment label-skew: scope = \"global\" would undo the skew; use \"local\"");
      }
      return std::make_unique<LabelSkew>(options.real("alpha"));
    }};

}  // namespace
}  // namespace lockstep
