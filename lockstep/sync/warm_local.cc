// Local SGD with blocks that grow (Zhang, De Sa, Mitliagkas, Ré 2016: averaging often helps most
// where gradients vary most, which is far from the optimum): averages are frequent at first, and
// ever rarer as training goes on. A block is as long as the schedule says when it begins.
#include "lockstep/sync/local.h"
#include "lockstep/sync/periods.h"

namespace lockstep {
namespace {

class WarmLocal : public LocalSgd {
 public:
  WarmLocal(Growth growth, std::int64_t period, OptimizerMemory memory)
      : LocalSgd(period, memory), growth_(growth) {}

  std::optional<std::int64_t> world_period() const override { return {}; }
  void prepare(const SyncSetup& setup) override { steps_ = static_cast<double>(setup.steps); }

 protected:
  std::int64_t length(std::int64_t first) const override {
    return warm_period(growth_, static_cast<double>(first) / steps_, period());
  }

 private:
  Growth growth_;
  double steps_ = 1;  // of the whole training
};

OptionSet warm_local_options() {
  OptionSet options = local_options(16, "L_W at the end of training, in steps; it begins with 1");
  options.text("growth", "geometric", "of the period: by equal factors or by equal amounts")
      .one_of({"geometric", "linear"});
  return options;
}

const Registration<SyncStrategy> kWarmLocal{
    "warm-local", "Local SGD that averages every step at first, and ever more rarely.",
    warm_local_options(), [](const Options& options) {
      const bool linear = options.text("growth") == "linear";
      return std::make_unique<WarmLocal>(linear ? Growth::kLinear : Growth::kGeometric,
                                         options.integer("period"), memory_option(options));
    }};

}  // namespace
}  // namespace lockstep
