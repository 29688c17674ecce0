// How a learner averages: by whom, compressed or not, beside backward or after it.
#include <fmt/format.h>

#include "lockstep/sync/compressed_averaging.h"
#include "lockstep/train/learner.h"

namespace lockstep {

std::unique_ptr<Averaging> Learner::make_averaging() {
  const CompressionPlan* const compression = job_.compression();
  if (serving_ && job_.traits().averages) {
    auto averaging = std::make_unique<ServerAveraging>(serving_->client(), *all_reduce_);
    if (compression != nullptr) {
      averaging->compress(AgreedModels(group_.ranks(), replica_->params()));
    }
    return averaging;
  }
  std::unique_ptr<Averaging> averaging;
  if (compression != nullptr) {
    averaging = std::make_unique<CompressedAveraging>(
        *compression, *all_reduce_, replica_->layers(), replica_->params(), group_.ranks(),
        job_.seed(), transport_.rank());
  } else {
    averaging = std::make_unique<AllReduceAveraging>(*all_reduce_);
  }
  auto bucketing = job_.make_bucketing();
  if (!bucketing->overlaps() || group_.size() == 1) return averaging;
  // Where workers reach each other's memory there is nothing to hide, and a better way to update.
  if (bucketing->measures() && updates_together()) return averaging;
  auto overlapped = std::make_unique<OverlappedAveraging>(
      std::move(averaging), std::move(bucketing),
      OverlappedAveraging::Setup{transport_, *all_reduce_, compression, replica_->layers(),
                                 job_.seed(), timeline_.get()});
  overlap_ = overlapped.get();
  return overlapped;
}

bool Learner::updates_together() {
  if (group_.size() == 1 || serving_ || job_.compression() != nullptr) return false;
  if (job_.config().at("aggregate").component() != "native") return false;
  const SharedSpace* const space = group_.shared();
  return space != nullptr && space->direct();
}

void Learner::open_overlap() {
  if (overlap_ == nullptr) return;
  Communicator* const members = strategy_->gradient_members(0);
  if (members != nullptr && members->size() > 1) {
    overlap_->open(members->group().ranks());
  } else {
    overlap_ = nullptr;  // there is nothing to hide
  }
}

std::string Learner::overlap_line(const std::vector<WorkerLedger>& ledgers) const {
  if (!job_.make_bucketing()->overlaps()) return "";
  if (overlap_ == nullptr) return "overlap     none: there is nothing to hide";
  const WorkerLedger all = sum_of(ledgers);
  std::string text = "overlap     " + overlap_->describe_buckets();
  if (all.hidden > 0) {
    text += fmt::format("; {:.0f} % of communication was behind computing",
                        100 * all.hidden / (all.hidden + all.communicating + all.waiting));
  }
  return text;
}

}  // namespace lockstep
