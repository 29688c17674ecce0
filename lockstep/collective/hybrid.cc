// Hybrid (Jia et al. 2018): small vectors are bound by latency, large ones by bandwidth; so below a
// threshold one algorithm runs and above it another. prepare() measures the threshold: the smallest
// size of a ladder from which the large one wins.
#include "lockstep/base/text.h"
#include "lockstep/collective/all_reduce.h"
#include "lockstep/collective/measure.h"

namespace lockstep {
namespace {

constexpr std::size_t kUnmeasured = 64 << 10;  // bytes, where nobody has measured
constexpr std::size_t kLadderEnd = 4 << 20;
constexpr int kRepeats = 7;

class Hybrid : public AllReduce {
 public:
  explicit Hybrid(const Options& options)
      : AllReduce("all-reduce hybrid"),
        small_name_(options.text("small")),
        large_name_(options.text("large")),
        small_(Registry<AllReduce>::instance().make(small_name_)),
        large_(Registry<AllReduce>::instance().make(large_name_)),
        threshold_(
            parse_size(options.text("threshold"), "all-reduce algorithm \"hybrid\": threshold")),
        given_(threshold_ > 0) {
    if (!given_) threshold_ = kUnmeasured;
  }

  void prepare(Group& group) override {
    if (given_ || group.size() == 1) return;
    const auto seconds = [&](const AllReduce& algorithm, std::size_t bytes) {
      return summarise(time_all_reduce(group, algorithm, bytes / sizeof(float), ReduceOp::kMean,
                                       kRepeats))
          .median;
    };
    threshold_ = kLadderEnd;
    for (std::size_t bytes = 1 << 10; bytes < kLadderEnd; bytes *= 4) {
      if (seconds(*large_, bytes) <= seconds(*small_, bytes)) {
        threshold_ = bytes;
        break;
      }
    }
    measured_ = true;
  }

  std::string findings() const override {
    return fmt::format("{} below {}, {} from there ({})", small_name_, format_size(threshold_),
                       large_name_,
                       measured_ ? "measured"
                       : given_  ? "given"
                                 : "not measured");
  }

  void reduce(Group& group, std::span<float> data, const Reduction& reduction) const override {
    pick(data.size()).reduce(group, data, reduction);
  }
  void tally(Tally& tally, int ranks, std::size_t n) const override {
    pick(n).tally(tally, ranks, n);
  }

 private:
  const AllReduce& pick(std::size_t n) const {
    return n * sizeof(float) < threshold_ ? *small_ : *large_;
  }

  std::string small_name_, large_name_;
  std::unique_ptr<AllReduce> small_, large_;
  std::size_t threshold_;  // bytes
  bool given_;
  bool measured_ = false;
};

OptionSet options() {
  OptionSet set;
  set.text("small", "butterfly", "what runs below the threshold")
      .one_of({"hierarchical", "tree", "butterfly"});
  set.text("large", "ring", "what runs from the threshold on").one_of({"ring", "torus"});
  set.text("threshold", "0", "size at which they change, such as 64K; 0 measures it");
  return set;
}

const Registration<AllReduce> kHybrid{
    "hybrid", "One algorithm for small vectors, another for large ones, by a measured threshold.",
    options(), [](const Options& values) { return std::make_unique<Hybrid>(values); }};

}  // namespace
}  // namespace lockstep
