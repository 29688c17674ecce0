#include "lockstep/sync/compressed_mean.h"

#include <fmt/format.h>

#include <algorithm>

#include "lockstep/collective/chunks.h"
#include "lockstep/compress/kernels.h"
#include "lockstep/sync/combining.h"

namespace lockstep {
namespace {

using Lanes = Compression::Lanes;

std::size_t end_of(std::span<const Layer> layers) {
  return layers.empty() ? 0 : layers.back().offset + layers.back().size;
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
  meter.cost().plain = costs_.of(all_reduce, members_, index_, values.size()).sent;
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
  auto& sums = now_.sums;
  sums.clear();
  for (Lane& lane : lanes_) {
    if (!whole_.gathers(lane)) sums.push_back(lane.compressor->summands());
  }
  if (sums.empty()) return;
  AverageCost& cost = meter.cost();
  const auto average = [&](std::span<float> numbers, Number number) {
    group.travel_as(number);
    all_reduce.run(group, numbers, ReduceOp::kMean);
    group.travel_as(Number::kFloat);
    const AverageCost& usual = costs_.of(all_reduce, members_, index_, numbers.size());
    const std::uint64_t bytes = usual.sent / sizeof(float) * size_of(number);
    cost.sent += bytes;
    cost.received += bytes;
    cost.rounds += usual.rounds;
  };
  int rounds = 0;
  for (const Summands* sum : sums) rounds = std::max(rounds, sum->rounds());
  auto& floats = now_.floats;
  auto& others = now_.others;
  auto& together = now_.together;
  for (int round = 0; round < rounds; ++round) {
    floats.clear();
    others.clear();
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
    for (const Range& run : lane.runs) {
      std::fill_n(values.data() + run.begin, run.size, 0.0f);
    }
  }
}

// No message is longer than twice the values and what frames it.
std::size_t CompressedMean::most() const {
  return 2 * size_ * sizeof(float) + 65536;
}

const ByteBlocks& CompressedMean::send_everybody(Group& group, BytesView message) {
  now_.views.assign(static_cast<std::size_t>(members_), message);
  exchange_bytes(group, now_.views, most(), now_.from);
  return now_.from;
}

void CompressedMean::gather(Group& group, std::span<float> values, Meter& meter) {
  Bytes& mine = now_.mine;
  mine.clear();
  meter.encoding(whole_.encode_seconds(Lanes::kGathered),
                 [&] { whole_.encode_gathered(values, mine); });
  const ByteBlocks& others = send_everybody(group, mine.view());
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
  auto& messages = now_.to_owners;
  auto& views = now_.views;
  messages.resize(m);
  views.resize(m);
  meter.encoding(whole_.encode_seconds(Lanes::kGathered), [&] {
    for (std::size_t i = 0; i < m; ++i) {
      messages[i].clear();
      to_owners_[i].encode_gathered(chunk_of(i), messages[i]);
      views[i] = messages[i].view();
    }
  });
  const ByteBlocks& parts = now_.from;
  exchange_bytes(group, views, most(), now_.from);
  AverageCost& cost = meter.cost();
  Bytes& mine = now_.mine;
  mine.clear();
  auto& sum = now_.sum;
  sum.assign(chunk_of(me).size(), 0.0f);
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
  const ByteBlocks& means = send_everybody(group, mine.view());
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

}  // namespace lockstep
