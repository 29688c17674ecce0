// Gradient dropping (Aji & Heafield 2017, Lin et al. 2018): only the largest values are sent, the
// rest waits in the residual until it is large. Looking for the k-th largest of all values is slow;
// a sample of them tells about where it lies. One pass then finds all values above that, and the k
// largest of these few are those of all. `sampled` takes the few as they are, so that their number
// is only about k.
//
// With momentum correction and masking (momentum_correction.h) it is Deep Gradient Compression.
//
//   places (see places.h), their values
#include <algorithm>
#include <cmath>

#include "lockstep/compress/momentum_correction.h"
#include "lockstep/compress/on_runs.h"
#include "lockstep/compress/places.h"

namespace lockstep {
namespace {

struct TopKOptions {
  double ratio = 0.01;
  bool sampled = false;
  bool per_layer = false;
  double warmup_epochs = 0;

  // From a quarter of all values down to the ratio, in equal factors (Lin et al.).
  double ratio_at(double epoch) const {
    constexpr double kFirst = 0.25;
    if (epoch >= warmup_epochs || ratio >= kFirst) return ratio;
    return kFirst * std::pow(ratio / kFirst, std::floor(epoch) / std::ceil(warmup_epochs));
  }
};

class TopK : public OnRuns {
 public:
  explicit TopK(TopKOptions options) : options_(options) {}

  void encode(std::span<const float> values, const Moment& moment, Bytes& out) override {
    const double ratio = options_.ratio_at(moment.epoch);
    places_.clear();
    if (options_.per_layer) {
      for (const Layer& layer : layers()) {
        const Range run{layer.offset, layer.size};
        choose(values, std::span(&run, 1), ratio);
      }
    } else {
      choose(values, runs(), ratio);
    }
    put_placed(values, places_, out);
  }

  void add(BytesView message, float scale, std::span<float> sum) const override {
    over_sent(message, [&](std::size_t place, float value) { sum[place] += scale * value; });
  }
  void clear_sent(BytesView message, std::span<float> values) const override {
    over_sent(message, [&](std::size_t place, float) { values[place] = 0; });
  }

  bool biased() const override { return true; }
  double expected_bytes(const Moment& moment) const override {
    const double ratio = options_.ratio_at(moment.epoch);
    const double gap = std::max(1.0, std::log2(1 / ratio) / 7 + 0.3);  // bytes, about
    return static_cast<double>(size()) * ratio * (sizeof(float) + gap) + 2;
  }
  Speed speed() const override { return {4e9, 40e9}; }

 private:
  static std::size_t wanted(std::size_t n, double ratio) {
    const auto k = static_cast<std::size_t>(std::llround(ratio * static_cast<double>(n)));
    return std::clamp<std::size_t>(k, 1, n);
  }

  // Appends the places of the largest in these runs.
  void choose(std::span<const float> values, std::span<const Range> runs, double ratio) {
    const std::size_t n = size_of(runs);
    if (n == 0) return;
    const std::size_t k = wanted(n, ratio), had = places_.size();
    const std::size_t enough = options_.sampled ? k - k / 4 : k;
    float threshold = guess(values, runs, ratio, n);
    for (;;) {
      for (const Range& run : runs) find_above(values, run, threshold, places_);
      if (places_.size() - had >= enough) break;
      places_.resize(had);
      // Too high. At last all values are above it.
      threshold = threshold < 1e-30f ? -1.0f : threshold / 2;
    }
    for (std::size_t i = had; i < places_.size(); ++i) {
      if (!std::isfinite(values[places_[i]])) refuse_non_finite(values, layers());
    }
    const std::size_t most = options_.sampled ? k + k / 2 : k;
    if (places_.size() - had > most) keep_largest(values, had, k);
  }

  // A magnitude that about k values exceed; for an exact choice, hardly ever fewer.
  float guess(std::span<const float> values, std::span<const Range> runs, double ratio,
              std::size_t n) {
    constexpr double kEnough = 400;  // of the sample above it: then it is known to some 5 %
    const auto wish = static_cast<std::size_t>(kEnough / ratio);
    const std::size_t stride = n / std::max<std::size_t>(std::min(wish, n / 16), 2048) + 1;
    sample_.clear();
    std::size_t at = stride / 2;  // among all values of the runs
    for (const Range& run : runs) {
      for (; at < run.size; at += stride) sample_.push_back(std::fabs(values[run.begin + at]));
      at -= run.size;
    }
    if (sample_.empty()) return -1.0f;
    double share = ratio * static_cast<double>(sample_.size());
    if (!options_.sampled) share += 3 * std::sqrt(share) + 1;
    const std::size_t place = std::min(static_cast<std::size_t>(share), sample_.size() - 1);
    // NaN would break the order, and nothing is above infinity; find_above() tells of both.
    for (float& size : sample_) {
      if (!std::isfinite(size)) size = 0;
    }
    const auto nth = sample_.begin() + static_cast<std::ptrdiff_t>(place);
    std::nth_element(sample_.begin(), nth, sample_.end(), std::greater<>());
    return *nth;
  }

  // Of equal ones those that come first.
  void keep_largest(std::span<const float> values, std::size_t had, std::size_t k) {
    const auto begin = places_.begin() + static_cast<std::ptrdiff_t>(had);
    const auto end = begin + static_cast<std::ptrdiff_t>(k);
    std::nth_element(begin, end, places_.end(), [&](std::uint32_t a, std::uint32_t b) {
      const float x = std::fabs(values[a]), y = std::fabs(values[b]);
      return x != y ? x > y : a < b;
    });
    places_.erase(end, places_.end());
    std::sort(begin, places_.end());
  }

  template <typename Body>
  void over_sent(BytesView message, const Body& body) const {
    BytesReader reader(message);
    const PlacedValues placed = read_placed(reader);
    PlaceReader places(reader, runs());
    for (std::size_t i = 0; i < placed.count; ++i) body(places.next(), placed.value(i));
    reader.end();
  }

  TopKOptions options_;
  Places places_;
  std::vector<float> sample_;
};

OptionSet topk_options() {
  OptionSet options;
  options.real("ratio", 0.01, "share of the values that is sent").above(0).at_most(1);
  options.flag("sampled", false,
               "send all above a threshold that a sample suggests, instead of exactly the largest");
  options.text("scope", "global", "where the largest are looked for: among all, or layer by layer")
      .one_of({"global", "layer"});
  options
      .real("warmup_epochs", 0, "epochs over which the ratio falls from 0.25 to what it is to be")
      .at_least(0);
  add_momentum_correction(options);
  return options;
}

const Registration<Compressor> kTopK{
    "topk", "The largest values; the rest waits until it is large.", topk_options(),
    [](const Options& options) {
      const TopKOptions own{options.real("ratio"), options.flag("sampled"),
                            options.text("scope") == "layer", options.real("warmup_epochs")};
      return std::make_unique<TopK>(own);
    }};

}  // namespace
}  // namespace lockstep
