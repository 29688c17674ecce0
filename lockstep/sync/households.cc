// Households: hierarchical local SGD (Lin et al. 2018, section 5). M workers live in H households,
// which may lie in NB neighbourhoods. Every worker steps alone; parameters are averaged
//
//   in the household        every L_H steps      where links are fast
//   in the neighbourhood    every L_N steps
//   over the world          every L_W steps      where they are slow
//
// with L_H < L_N < L_W, counted from the last average of the world. Where several are due the
// widest one alone takes place: it leaves what the others and it would have left. Households of one
// worker are local SGD; one household that averages every step is synchronous, if the optimizer is
// linear.
#include <cmath>

#include "lockstep/base/error.h"
#include "lockstep/sync/arrangement.h"
#include "lockstep/sync/local.h"

namespace lockstep {
namespace {

constexpr int kDefaultHouseholds = 2;

class Households : public LocalSgd {
 public:
  explicit Households(const Options& options)
      : LocalSgd(options.integer("world_period"), memory_option(options)),
        households_(static_cast<int>(options.integer("households"))),
        neighbourhoods_(static_cast<int>(options.integer("neighbourhoods"))),
        household_period_(options.integer("household_period")),
        neighbourhood_period_(options.integer("neighbourhood_period")) {
    for (const double size : options.reals("household_sizes")) {
      if (size < 1 || size != std::floor(size) || size > 65536) {
        throw ConfigError("[sync] household_sizes holds {}; a household has 1 worker or more",
                          size);
      }
      sizes_.push_back(static_cast<int>(size));
    }
    const auto given = static_cast<int>(sizes_.size());
    if (households_ == 0) households_ = given > 0 ? given : kDefaultHouseholds;
    if (given > 0 && given != households_) {
      throw ConfigError("[sync] households = {}, but household_sizes has {}; give one of them",
                        households_, given);
    }
    check_periods();
  }

  int households(int workers) const override { return arrange(workers).households(); }
  int neighbourhoods(int workers) const override { return arrange(workers).neighbourhoods(); }
  bool equal_households() const override {
    return sizes_.empty() || Arrangement(sizes_, neighbourhoods_).equal_households();
  }
  std::optional<std::int64_t> world_period() const override {
    if (household_period_ == 1) return period();
    throw ConfigError(
        "[train] effective_batch is known for households that average every step; "
        "household_period is {}. Set it to 1, or give local_batch",
        household_period_);
  }

  void prepare(const SyncSetup& setup) override {
    const Arrangement all = arrange(setup.communicator.size());
    const int own = setup.communicator.index();
    household_ = &setup.communicator.part(all.household_of(own));
    neighbourhood_ = &setup.communicator.part(all.neighbourhood_of(own));
  }

 protected:
  void within(SyncStep& step, std::int64_t taken) override {
    if (neighbourhood_period_ > 0 && taken % neighbourhood_period_ == 0) {
      average(step, *neighbourhood_);
    } else if (taken % household_period_ == 0) {
      average(step, *household_);
    }
  }

 private:
  void check_periods() const {
    if ((neighbourhoods_ > 1) != (neighbourhood_period_ > 0)) {
      throw ConfigError(
          "[sync] neighbourhoods = {} and neighbourhood_period = {}; give both, or neither (1 "
          "and 0)",
          neighbourhoods_, neighbourhood_period_);
    }
    check_shorter("household_period", household_period_, "world_period", period());
    if (neighbourhood_period_ == 0) return;
    check_shorter("household_period", household_period_, "neighbourhood_period",
                  neighbourhood_period_);
    check_shorter("neighbourhood_period", neighbourhood_period_, "world_period", period());
  }
  static void check_shorter(const char* inner, std::int64_t shorter, const char* outer,
                            std::int64_t longer) {
    if (shorter < longer) return;
    throw ConfigError(
        "[sync] {} = {} must be less than {} = {}: the wider average would leave the narrower one "
        "nothing to do. Where all workers are to average at once, use name = \"local\"",
        inner, shorter, outer, longer);
  }

  Arrangement arrange(int workers) const {
    if (sizes_.empty()) return Arrangement::equal(workers, households_, neighbourhoods_);
    Arrangement all(sizes_, neighbourhoods_);
    if (all.workers() == workers) return all;
    throw ConfigError("[sync] household_sizes add up to {} workers, but there are {}",
                      all.workers(), workers);
  }

  int households_, neighbourhoods_;
  std::int64_t household_period_, neighbourhood_period_;
  std::vector<int> sizes_;  // empty: all equal
  Communicator* household_ = nullptr;
  Communicator* neighbourhood_ = nullptr;
};

OptionSet households_options() {
  OptionSet options;
  options
      .integer("households", 0,
               "H, groups of workers; 0: as many as household_sizes has, or else 2; must divide "
               "the workers")
      .at_least(0)
      .at_most(65536);
  options.reals("household_sizes", {}, "workers of each household, if they are not to be equal");
  options.integer("neighbourhoods", 1, "NB, groups of households; must divide them")
      .at_least(1)
      .at_most(65536);
  options.integer("household_period", 1, "L_H, steps between two averages in a household")
      .at_least(1);
  options
      .integer("neighbourhood_period", 0,
               "L_N, steps between two averages in a neighbourhood; needed where there are several")
      .at_least(0);
  options.integer("world_period", 16, "L_W, steps between two averages of all workers").at_least(1);
  add_memory_option(options);
  return options;
}

const Registration<SyncStrategy> kHouseholds{
    "households", "Average often in a household of workers, rarely over the world.",
    households_options(),
    [](const Options& options) { return std::make_unique<Households>(options); }};

}  // namespace
}  // namespace lockstep
