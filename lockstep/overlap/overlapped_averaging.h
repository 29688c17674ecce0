// Averages of gradients that begin while backward is still at work. Buckets (bucketing.h) go to the
// rank's communication lane as their last layer is finished; when the strategy asks for the average
// it only waits for what is still missing, and gets bucket by bucket what is there. Everything else
// that is averaged goes the usual way.
//
// The plan of buckets is the same on all ranks and made before the first step, so the lanes of all
// ranks average in the same order.
#pragma once

#include <memory>

#include "lockstep/base/timeline.h"
#include "lockstep/collective/measure.h"
#include "lockstep/overlap/bucketing.h"
#include "lockstep/overlap/lane.h"
#include "lockstep/sync/compressed_mean.h"

namespace lockstep {

class OverlappedAveraging : public Averaging {
 public:
  struct Setup {
    Transport& transport;
    const AllReduce& all_reduce;
    const CompressionPlan* compression = nullptr;
    std::span<const Layer> layers;
    std::uint64_t seed = 1;
    RankTimeline* timeline = nullptr;
  };

  OverlappedAveraging(std::unique_ptr<Averaging> others, std::unique_ptr<Bucketing> bucketing,
                      const Setup& setup);
  ~OverlappedAveraging() override;

  // Collective among `members`, the ranks whose gradients are averaged: opens the lane.
  void open(const std::vector<int>& members);
  // Must plan() be called before the first begin()?
  bool wants_times() const { return parts_.empty(); }
  // Collective. `ready`: when backward has finished each layer, in seconds from any moment on.
  void plan(Group& group, std::span<const double> ready);

  // A backward pass begins that fills `grads`, which will be averaged. They must outlive this
  // object: a pass that ends by an exception leaves them lent to the other ranks until the lane is
  // closed.
  void begin(std::span<float> grads);
  // Layer `index` of them is finished. Gives buckets away, does not wait.
  void ready(std::size_t index);

  AverageCost average(Group& group, std::span<float> values, Content content,
                      const OnPart& on_part) override;
  AverageCost cost(Group& group, std::size_t n) const override { return others_->cost(group, n); }
  void know(Group& group, std::span<const float> model) override { others_->know(group, model); }
  void begin_step(double epoch) override;
  // What a checkpoint keeps beside state(), and must put back before it: the buckets, and of how
  // many members. An empty list, or that of another number of members, changes nothing, nor does
  // any where buckets follow from the configuration.
  const Buckets& buckets() const { return ends_; }
  std::int64_t members() const { return static_cast<std::int64_t>(members_.size()); }
  void keep(const Buckets& buckets, std::int64_t members);
  void state(StateVisitor& visitor) override;
  std::string findings() const override { return others_->findings(); }
  // As a user reads it, once there is a plan.
  std::string describe_buckets() const;

  // "fc.weight … stage2.conv.weight": the layers of each, in the order in which they leave.
  std::vector<std::string> bucket_names() const;

 private:
  // One bucket is ready when backward is over, and then a lane would only be a detour.
  bool beside() const { return parts_.size() > 1; }
  void use(const Buckets& buckets);
  void work(Group& group, std::uint32_t job);

  std::unique_ptr<Averaging> others_;
  std::unique_ptr<Bucketing> bucketing_;
  Setup setup_;
  std::vector<Layer> layers_;
  std::vector<int> members_;
  double epoch_ = 0;

  Buckets ends_;                         // of layers counted from the last one
  std::vector<Range> parts_;             // of the flat vector
  std::vector<std::size_t> bucket_of_;   // by layer
  std::vector<CompressedMean> means_;    // by bucket, where [compress] compresses
  std::vector<AverageCost> plain_cost_;  // by bucket, where not
  AverageTime time_;                     // measured

  // The pass under way.
  std::span<float> grads_;
  std::vector<std::size_t> missing_;  // layers, by bucket
  std::size_t given_ = 0;             // buckets
  std::vector<AverageCost> costs_;    // by bucket, written by the lane
  std::vector<double> seconds_;

  std::unique_ptr<Lane> lane_;  // last: it uses the rest
};

}  // namespace lockstep
