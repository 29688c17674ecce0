#include "lockstep/sync/compressed_mean.h"

#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/aligned.h"
#include "lockstep/collective/chunks.h"
#include "lockstep/collective/collectives.h"
#include "lockstep/compress/kernels.h"

namespace lockstep {
namespace {

using Lanes = Compression::Lanes;

std::size_t end_of(std::span<const Layer> layers) {
  return layers.empty() ? 0 : layers.back().offset + layers.back().size;
}

bool owners_pay(const CompressionPlan& plan, int members) {
  if (plan.combining() != Combining::kAuto) return plan.combining() == Combining::kOwner;
  const double m = members;  // in messages
  return 2 * (m - 1) / m < m - 1;
}

}  // namespace

// Counts bytes and seconds of one average.
class CompressedMean::Meter {
 public:
  explicit Meter(Transport& transport) : transport_(transport) {}
  template <typename Action>
  void encoding(double modelled, const Action& action) {
    time(cost_.encoding, modelled, action);
  }
  template <typename Action>
  void decoding(double modelled, const Action& action) {
    time(cost_.decoding, modelled, action);
  }
  AverageCost& cost() { return cost_; }

 private:
  template <typename Action>
  void time(double& seconds, double modelled, const Action& action) {
    const double began = transport_.now();
    action();
    transport_.charge(modelled);
    seconds += transport_.now() - began;
  }
  Transport& transport_;
  AverageCost cost_;
};

CompressedMean::CompressedMean(const CompressionPlan& plan, std::span<const Layer> layers,
                               std::uint64_t seed, std::uint64_t stream, Feedback feedback,
                               int index, int members)
    : size_(end_of(layers)),
      index_(index),
      members_(members),
      whole_(plan, layers, seed, stream, feedback) {
  if (members == 1 || !owners_pay(plan, members)) return;
  for (int i = 0; i < members; ++i) {
    const Range own = chunk(size_, members, i);
    const Compression::Part part{own.begin, own.end()};
    to_owners_.emplace_back(plan, layers, seed, stream + 2 + static_cast<std::uint64_t>(i),
                            feedback, part);
    if (i != index) continue;
    // The sum has had its momentum.
    const Feedback again = feedback == Feedback::kNone ? Feedback::kNone : Feedback::kPlanned;
    as_owner_ = std::make_unique<Compression>(plan, layers, seed, stream + 1, again, part);
  }
}

AverageCost CompressedMean::run(Group& group, const AllReduce& all_reduce, std::span<float> values,
                                double epoch) {
  Meter meter(group.transport());
  begin(values, epoch);
  add_up(group, all_reduce, values, meter);
  if (gathers()) {
    if (by_owners()) {
      through_owners(group, values, epoch, meter);
    } else {
      gather(group, values, meter);
    }
  }
  meter.cost().plain = all_reduce.tally_of(members_, values.size()).bytes_of(index_);
  return meter.cost();
}

// Where the plan goes on to other compressors, what was held back goes into the values.
void CompressedMean::begin(std::span<float> values, double epoch) {
  if (as_owner_ && as_owner_->changes(epoch)) {
    const Range own = chunk(size_, members_, index_);
    AlignedVector<float> held(own.size);
    as_owner_->begin(held, epoch);
    // It was held back of the mean: of this member's values as many times as there are members.
    compress_kernels().add_scaled(held.data(), held.size(), static_cast<float>(members_),
                                  values.data() + own.begin);
  }
  for (int i = 0; i < static_cast<int>(to_owners_.size()); ++i) {
    to_owners_[static_cast<std::size_t>(i)].begin(slice(values, chunk(size_, members_, i)), epoch);
  }
  lanes_ = whole_.begin(values, epoch);
}

bool CompressedMean::gathers() const {
  return std::ranges::any_of(lanes_, [&](const Lane& lane) { return whole_.gathers(lane); });
}

// Summands that travel as floats go together, a round at a time.
void CompressedMean::add_up(Group& group, const AllReduce& all_reduce, std::span<float> values,
                            Meter& meter) {
  std::vector<Summands*> sums;
  for (Lane& lane : lanes_) {
    if (!whole_.gathers(lane)) sums.push_back(lane.compressor->summands());
  }
  if (sums.empty()) return;
  AverageCost& cost = meter.cost();
  const auto average = [&](std::span<float> numbers, Number number) {
    group.travel_as(number);
    all_reduce.run(group, numbers, ReduceOp::kMean);
    group.travel_as(Number::kFloat);
    const Tally tally = all_reduce.tally_of(members_, numbers.size());
    const std::uint64_t bytes = tally.bytes_of(index_) / sizeof(float) * size_of(number);
    cost.sent += bytes;
    cost.received += bytes;
    cost.rounds += static_cast<std::uint64_t>(tally.cost().steps);
  };
  int rounds = 0;
  for (const Summands* sum : sums) rounds = std::max(rounds, sum->rounds());
  AlignedVector<float> together;
  for (int round = 0; round < rounds; ++round) {
    std::vector<std::span<float>> floats;
    std::vector<std::pair<std::span<float>, Number>> others;
    meter.encoding(round == 0 ? whole_.encode_seconds(Lanes::kAdded) : 0, [&] {
      for (Summands* sum : sums) {
        if (round >= sum->rounds()) continue;
        const auto numbers = sum->summands(round, values, values, whole_.moment());
        if (sum->number() == Number::kFloat) {
          floats.push_back(numbers);
        } else {
          others.emplace_back(numbers, sum->number());
        }
      }
      if (floats.size() < 2) return;
      together.clear();
      for (const auto part : floats) together.insert(together.end(), part.begin(), part.end());
    });
    for (const auto& [numbers, number] : others) average(numbers, number);
    if (floats.size() == 1) average(floats.front(), Number::kFloat);
    if (floats.size() < 2) continue;
    average(together, Number::kFloat);
    const float* from = together.data();
    for (const auto part : floats) {
      std::copy_n(from, part.size(), part.begin());
      from += part.size();
    }
  }
  meter.decoding(whole_.decode_seconds(Lanes::kAdded), [&] {
    for (Summands* sum : sums) sum->finish(values, {});
  });
}

void CompressedMean::clear_gathered(std::span<float> values) const {
  for (const Lane& lane : lanes_) {
    if (!whole_.gathers(lane)) continue;
    for (const Range& run : runs_of(lane.layers)) {
      std::fill_n(values.data() + run.begin, run.size, 0.0f);
    }
  }
}

// No message is longer than twice the values and what frames it.
std::size_t CompressedMean::most() const {
  return 2 * size_ * sizeof(float) + 65536;
}

void CompressedMean::gather(Group& group, std::span<float> values, Meter& meter) {
  Bytes mine;
  meter.encoding(whole_.encode_seconds(Lanes::kGathered),
                 [&] { whole_.encode_gathered(values, mine); });
  const auto others = exchange_bytes(
      group, std::vector<BytesView>(static_cast<std::size_t>(members_), mine.view()), most());
  AverageCost& cost = meter.cost();
  cost.sent += mine.size() * static_cast<std::size_t>(members_ - 1);
  for (const auto& message : others) cost.received += message.size();
  cost.rounds += 1;
  meter.decoding(whole_.decode_seconds(Lanes::kGathered) * members_, [&] {
    clear_gathered(values);
    const float share = 1.0f / static_cast<float>(members_);
    for (int i = 0; i < members_; ++i) {
      const BytesView message =
          i == index_ ? mine.view() : BytesView(others[static_cast<std::size_t>(i)]);
      whole_.add(message, share, values);
    }
  });
}

void CompressedMean::through_owners(Group& group, std::span<float> values, double epoch,
                                    Meter& meter) {
  const auto m = static_cast<std::size_t>(members_), me = static_cast<std::size_t>(index_);
  const auto chunk_of = [&](std::size_t i) {
    return slice(values, chunk(size_, members_, static_cast<int>(i)));
  };
  std::vector<Bytes> messages(m);
  std::vector<BytesView> views(m);
  meter.encoding(whole_.encode_seconds(Lanes::kGathered), [&] {
    for (std::size_t i = 0; i < m; ++i) {
      to_owners_[i].encode_gathered(chunk_of(i), messages[i]);
      views[i] = messages[i].view();
    }
  });
  const auto parts = exchange_bytes(group, views, most());
  AverageCost& cost = meter.cost();
  Bytes mine;
  AlignedVector<float> sum(chunk_of(me).size());
  const double share = 1.0 / members_;
  meter.decoding(whole_.decode_seconds(Lanes::kGathered), [&] {
    for (std::size_t i = 0; i < m; ++i) {
      const bool mine_too = i == me;
      cost.sent += mine_too ? 0 : views[i].size();
      cost.received += parts[i].size();
      to_owners_[me].add(mine_too ? views[me] : BytesView(parts[i]), static_cast<float>(share),
                         sum);
    }
  });
  meter.encoding(whole_.encode_seconds(Lanes::kGathered) * share, [&] {
    as_owner_->begin(sum, epoch);
    as_owner_->encode_gathered(sum, mine);
  });
  const auto means = exchange_bytes(group, std::vector<BytesView>(m, mine.view()), most());
  cost.sent += mine.size() * (m - 1);
  cost.rounds += 2;
  meter.decoding(whole_.decode_seconds(Lanes::kGathered), [&] {
    clear_gathered(values);
    for (std::size_t i = 0; i < m; ++i) {
      cost.received += i == me ? 0 : means[i].size();
      to_owners_[i].add(i == me ? mine.view() : BytesView(means[i]), 1, chunk_of(i));
    }
  });
}

void CompressedMean::state(StateVisitor& visitor) {
  StateScope whole(visitor, "whole");
  whole_.state(whole);
  for (std::size_t i = 0; i < to_owners_.size(); ++i) {
    StateScope part(visitor, fmt::format("owner{}", i));
    to_owners_[i].state(part);
  }
  if (!as_owner_) return;
  StateScope own(visitor, "own");
  as_owner_->state(own);
}

std::uint64_t stream_of(int rank, const std::vector<int>& members, Content content,
                        std::size_t bucket) {
  std::uint64_t x = static_cast<std::uint64_t>(rank) * 4 + static_cast<std::uint64_t>(content);
  const auto mix = [&x](std::uint64_t value) {
    x = (x ^ value) * 0x9e3779b97f4a7c15u;
    x ^= x >> 29;
  };
  for (const int member : members) mix(static_cast<std::uint64_t>(member) + 1);
  if (bucket > 0) mix(bucket);
  return (x >> 8) << 4 & ~(std::uint64_t{7} << 60);
}

std::string describe_combining(const CompressionPlan& plan, std::span<const Layer> layers,
                               int members) {
  std::string text;
  for (std::size_t phase = 0; phase < plan.phases(); ++phase) {
    std::string lanes;
    for (const auto& lane : plan.lanes(phase, layers)) {
      if (lane.name == "none") continue;
      const auto compressor = plan.make(lane, Feedback::kNone);
      const bool adds = compressor->summands() != nullptr;
      const auto plain = static_cast<double>(size_of(runs_of(lane.layers)) * sizeof(float));
      const char* how = adds                        ? "adds up"
                        : owners_pay(plan, members) ? "by owners of chunks"
                                                    : "gathered by everybody";
      lanes += fmt::format("{}{} {}, messages about 1/{:.0f}", lanes.empty() ? "" : "; ", lane.name,
                           how, plain / std::max(1.0, compressor->expected_bytes({})));
    }
    text += fmt::format("{}{}", text.empty() ? "" : "; then ", lanes.empty() ? "plain" : lanes);
  }
  return text;
}

}  // namespace lockstep
