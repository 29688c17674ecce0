// Collapsed ensembles (Codreanu, Podareanu, Saletore 2017): training collapses (collapse.h) several
// times, and each time leaves a model: an ensemble for the price of little more than one. The first
// cycle, which does most of the learning, is long; the later ones start from the collapsed model at
// a lower rate.
//
//   rate  1 \              .
//            \   restart \  \  \       snapshots where a cycle ends
//             `._         `._`._`._
//           |— first —|— equal parts —|
#include <algorithm>

#include "lockstep/optim/collapse.h"

namespace lockstep {
namespace {

class CollapsedEnsemble : public Schedule {
 public:
  explicit CollapsedEnsemble(const Options& options)
      : collapse_(options),
        cycles_(options.integer("cycles")),
        first_(options.real("first")),
        restart_(options.real("restart")) {}

  SchedulePoint at(double progress, double) const override {
    std::int64_t cycle = 0;
    while (cycle + 1 < cycles_ && progress >= end_of(cycle)) ++cycle;
    const double begin = cycle == 0 ? 0 : end_of(cycle - 1);
    SchedulePoint point = collapse_.point((progress - begin) / (end_of(cycle) - begin));
    if (cycle > 0) point.lr *= restart_;
    return point;
  }

  std::vector<double> snapshots() const override {
    std::vector<double> ends;
    for (std::int64_t cycle = 0; cycle < cycles_; ++cycle) ends.push_back(end_of(cycle));
    return ends;
  }

 private:
  double end_of(std::int64_t cycle) const {
    if (cycle + 1 == cycles_) return 1;
    return first_ + (1 - first_) * static_cast<double>(cycle) / static_cast<double>(cycles_ - 1);
  }

  Collapse collapse_;
  std::int64_t cycles_;
  double first_, restart_;
};

OptionSet collapsed_ensemble_options() {
  OptionSet options = schedule_options();
  options.integer("cycles", 4, "number of collapses, each with a snapshot").at_least(1);
  options.real("first", 0.55, "fraction of training that the first cycle takes")
      .above(0)
      .at_most(0.999);
  options.real("restart", 0.5, "the rate where later cycles begin, as a factor").above(0);
  add_collapse_options(options);
  return options;
}

const Registration<Schedule> kCollapsedEnsemble{
    "collapsed-ensemble", "Several collapses of the rate, each of which leaves a snapshot.",
    collapsed_ensemble_options(),
    [](const Options& options) { return std::make_unique<CollapsedEnsemble>(options); }};

}  // namespace
}  // namespace lockstep
