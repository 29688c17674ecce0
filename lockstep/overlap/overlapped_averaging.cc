#include "lockstep/overlap/overlapped_averaging.h"

#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/error.h"
#include "lockstep/base/text.h"
#include "lockstep/overlap/compressed_time.h"

namespace lockstep {
namespace {

constexpr Tag kLaneTag = 112;  // and the next one
constexpr Tag kBucketTag = 114;
constexpr std::uint32_t kMeasure = 1u << 31;  // a job that is no bucket

// Of backward's time. A lane takes some itself: what saves less is not worth it.
constexpr double kLeastGain = 0.03;

}  // namespace

OverlappedAveraging::OverlappedAveraging(std::unique_ptr<Averaging> others,
                                         std::unique_ptr<Bucketing> bucketing, const Setup& setup)
    : others_(std::move(others)),
      bucketing_(std::move(bucketing)),
      setup_(setup),
      layers_(setup.layers.begin(), setup.layers.end()) {}

OverlappedAveraging::~OverlappedAveraging() = default;

void OverlappedAveraging::open(const std::vector<int>& members) {
  members_ = members;
  if (!bucketing_->measures()) {
    use(bucketing_->plan(profile_of(layers_)));
    if (!beside()) return;
  }
  lane_ = std::make_unique<Lane>(
      setup_.transport, kLaneTag, std::max<std::size_t>(layers_.size(), 1),
      [this](Transport& beside) -> Lane::Work {
        const auto group = std::make_shared<Group>(beside, members_, kBucketTag);
        return [this, group](std::uint32_t job) { work(*group, job); };
      });
}

void OverlappedAveraging::use(const Buckets& buckets) {
  ends_ = buckets;
  parts_ = parts_of(layers_, ends_);
  bucket_of_.resize(layers_.size());
  std::size_t bucket = 0;
  for (std::size_t at = 0; at < layers_.size(); ++at) {
    if (at == ends_[bucket]) ++bucket;
    bucket_of_[layers_.size() - 1 - at] = bucket;
  }
  costs_.assign(parts_.size(), {});
  seconds_.assign(parts_.size(), 0);
  missing_.assign(parts_.size(), 0);
  means_.clear();
  plain_cost_.clear();
  const auto size = static_cast<int>(members_.size());
  const int rank = setup_.transport.rank();
  const auto index = static_cast<int>(std::ranges::find(members_, rank) - members_.begin());
  if (!beside()) {
    lane_.reset();  // nobody will need it
    return;
  }
  for (const Range& part : parts_) {
    if (setup_.compression != nullptr) {
      means_.emplace_back(*setup_.compression, cut_layers(layers_, part.begin, part.end()),
                          setup_.seed, stream_of(rank, members_, Content::kChange, part.begin),
                          Feedback::kWorker, index, size);
    } else {
      const Tally tally = setup_.all_reduce.tally_of(size, part.size);
      const std::uint64_t bytes = tally.bytes_of(index);
      plain_cost_.push_back({bytes, bytes, static_cast<std::uint64_t>(tally.cost().steps), bytes});
    }
  }
}

// Every member brings its own times, and all take the mean.
void OverlappedAveraging::plan(Group& group, std::span<const double> ready) {
  lane_->give(kMeasure);
  lane_->wait();
  LOCKSTEP_CHECK(ready.size() == layers_.size(), "times of {} layers", ready.size());
  std::vector<float> times(ready.begin(), ready.end());
  setup_.all_reduce.run(group, times, ReduceOp::kMean);
  BackwardProfile profile = profile_of(layers_);
  profile.alpha = time_.alpha;
  profile.beta = compressed_beta(time_.beta, setup_.compression, layers_);
  const float first = *std::ranges::min_element(times);
  double latest = 0;  // buckets leave in order, whatever is ready before its turn
  for (std::size_t i = times.size(); i-- > 0;) {
    latest = std::max(latest, static_cast<double>(times[i] - first));
    profile.ready.push_back(latest);
  }
  const Buckets best = bucketing_->plan(profile), all{layers_.size()};
  const double gain = predicted_end(profile, all) - predicted_end(profile, best);
  use(gain > kLeastGain * latest ? best : all);
}

void OverlappedAveraging::begin_step(double epoch) {
  epoch_ = epoch;
  others_->begin_step(epoch);
}

void OverlappedAveraging::begin(std::span<float> grads) {
  if (!beside()) return;
  LOCKSTEP_CHECK(lane_ && lane_->idle(), "the lane is not ready for a pass");
  grads_ = grads;
  given_ = 0;
  std::ranges::fill(missing_, std::size_t{0});
  for (const std::size_t bucket : bucket_of_) ++missing_[bucket];
}

void OverlappedAveraging::ready(std::size_t index) {
  if (!beside()) return;
  std::size_t& missing = missing_[bucket_of_[index]];
  LOCKSTEP_CHECK(missing > 0, "layer {} was finished twice", index);
  --missing;
  for (; given_ < parts_.size() && missing_[given_] == 0; ++given_) {
    lane_->give(static_cast<std::uint32_t>(given_));
  }
}

// On the companion.
void OverlappedAveraging::work(Group& group, std::uint32_t job) {
  if (job == kMeasure) {
    time_ = measure_average(group, setup_.all_reduce);
    return;
  }
  const double began = group.transport().now();
  const std::span<float> values = slice(grads_, parts_[job]);
  if (means_.empty()) {
    setup_.all_reduce.run(group, values, ReduceOp::kMean);
    costs_[job] = plain_cost_[job];
  } else {
    costs_[job] = means_[job].run(group, setup_.all_reduce, values, epoch_);
  }
  const double ended = group.transport().now();
  seconds_[job] = ended - began;
  if (setup_.timeline != nullptr) {
    setup_.timeline->lane.add(Activity::kBucket, began, ended, costs_[job].sent, job);
  }
}

AverageCost OverlappedAveraging::average(Group& group, std::span<float> values, Content content,
                                         const OnPart& on_part) {
  const bool under_way =
      content == Content::kChange && !grads_.empty() && values.data() == grads_.data();
  if (!under_way) return others_->average(group, values, content, on_part);
  LOCKSTEP_CHECK(given_ == parts_.size(), "{} of {} buckets are ready", given_, parts_.size());
  AverageCost sum{.beside = true};
  double busy = 0;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const double began = setup_.transport.now();
    lane_->wait();
    const double ended = setup_.transport.now();
    sum.blocked += ended - began;
    if (setup_.timeline != nullptr) {
      setup_.timeline->training.add(Activity::kWait, began, ended, 0,
                                    static_cast<std::uint32_t>(i));
    }
    sum += costs_[i];
    busy += seconds_[i];
    if (on_part) on_part(parts_[i]);
  }
  sum.hidden = std::max(0.0, busy - sum.blocked);
  grads_ = {};
  return sum;
}

std::string OverlappedAveraging::describe_buckets() const {
  if (!beside()) return "one bucket, after backward";
  std::size_t largest = 0;
  for (const Range& part : parts_) largest = std::max(largest, part.size * sizeof(float));
  std::string text = fmt::format("{} layers in {} buckets, the largest of {}", layers_.size(),
                                 parts_.size(), format_size(largest));
  if (time_.alpha > 0) {
    text += fmt::format("; an average takes {} and {:.3g} ns a byte",
                        trim(format_seconds(time_.alpha)), 1e9 * time_.beta);
  }
  return text;
}

std::vector<std::string> OverlappedAveraging::bucket_names() const {
  std::vector<std::string> names;
  std::size_t done = 0;
  for (const std::size_t end : ends_) {
    const std::string& last = layers_[layers_.size() - 1 - done].name;
    const std::string& first = layers_[layers_.size() - end].name;
    names.push_back(end - done == 1 ? last : last + " … " + first);
    done = end;
  }
  return names;
}

void OverlappedAveraging::keep(const Buckets& buckets, std::int64_t members) {
  if (!bucketing_->measures() || buckets.empty() || members != this->members()) return;
  const bool rising = std::ranges::adjacent_find(buckets, std::greater_equal<>()) == buckets.end();
  if (!rising || buckets.front() == 0 || buckets.back() != layers_.size()) {
    throw DataError("a checkpoint's buckets are not those of this model");
  }
  if (buckets != ends_) use(buckets);
}

void OverlappedAveraging::state(StateVisitor& visitor) {
  others_->state(visitor);
  for (std::size_t i = 0; i < means_.size(); ++i) {
    StateScope scope(visitor, fmt::format("bucket{}", i));
    means_[i].state(scope);
  }
}

}  // namespace lockstep
