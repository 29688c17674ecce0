#include "lockstep/compress/compression.h"

#include <algorithm>

#include "lockstep/base/aligned.h"
#include "lockstep/base/random.h"

namespace lockstep {
namespace {

constexpr std::uint8_t kVersion = 1;

}  // namespace

Compression::Compression(const CompressionPlan& plan, std::span<const Layer> layers,
                         std::uint64_t seed, std::uint64_t stream, Feedback feedback, Part part)
    : plan_(plan),
      layers_(layers.begin(), layers.end()),
      seed_(seed),
      stream_(stream),
      feedback_(feedback),
      part_(part) {
  lanes_ = make_lanes(0, feedback_);
  for (std::size_t phase = 0; phase < plan.phases(); ++phase) {
    receivers_.push_back(make_lanes(phase, Feedback::kNone));
  }
}

std::vector<Compression::Lane> Compression::make_lanes(std::size_t phase, Feedback feedback) const {
  std::vector<Lane> lanes;
  for (auto& lane : plan_.lanes(phase, layers_)) {
    if (part_.begin > 0 || part_.end != Part().end) {
      lane.layers = cut_layers(lane.layers, part_.begin, part_.end);
    }
    auto compressor = plan_.make(lane, feedback);
    auto runs = runs_of(lane.layers);
    lanes.push_back({lane.name, std::move(lane.layers), std::move(compressor), std::move(runs)});
  }
  return lanes;
}

bool Compression::gathers(const Lane& lane, std::span<const Lane> among) {
  const auto adds = [](const Lane& one) { return one.compressor->summands() != nullptr; };
  if (lane.name != "none") return !adds(lane);
  return !std::ranges::all_of(among, adds);
}

bool Compression::changes(double epoch) const {
  return plan_.phase_at(epoch) != static_cast<std::size_t>(phase_);
}

std::span<Compression::Lane> Compression::begin(std::span<float> values, double epoch) {
  moment_ = {epoch, Random(seed_, "compress", stream_, static_cast<std::uint64_t>(messages_++))()};
  if (changes(epoch)) {
    for (Lane& lane : lanes_) lane.compressor->release(values);
    phase_ = static_cast<std::int64_t>(plan_.phase_at(epoch));
    lanes_ = make_lanes(static_cast<std::size_t>(phase_), feedback_);
  }
  return lanes_;
}

void Compression::encode(std::span<const float> values, double epoch, Bytes& out) {
  AlignedVector<float> more;  // than was given
  if (changes(epoch)) {
    more.assign(values.begin(), values.end());
    values = more;
  }
  begin(more, epoch);
  put(values, true, out);
}

void Compression::encode_gathered(std::span<const float> values, Bytes& out) {
  put(values, false, out);
}

void Compression::put(std::span<const float> values, bool all, Bytes& out) {
  out.put(kVersion);
  out.put(static_cast<std::uint8_t>(phase_));
  out.put(static_cast<std::uint8_t>(all ? 1 : 0));
  for (Lane& lane : lanes_) {
    if (!all && !gathers(lane)) continue;
    const std::size_t length_at = out.size();
    out.extend(sizeof(std::uint64_t));
    lane.compressor->encode(values, moment_, out);
    const std::uint64_t length = out.size() - length_at - sizeof length;
    std::memcpy(out.at(length_at), &length, sizeof length);
  }
}

void Compression::add(BytesView message, float scale, std::span<float> sum) const {
  BytesReader reader(message);
  const auto version = reader.get<std::uint8_t>(), phase = reader.get<std::uint8_t>();
  const auto all = reader.get<std::uint8_t>();
  if (version != kVersion) {
    throw CommError("a compressed message of version {}, where {} is known", version, kVersion);
  }
  if (phase >= receivers_.size() || all > 1) {
    throw CommError("a compressed message of phase {} of {}, lanes {}", phase, receivers_.size(),
                    all);
  }
  for (const Lane& lane : receivers_[phase]) {
    if (all == 0 && !gathers(lane, receivers_[phase])) continue;
    const auto length = reader.get<std::uint64_t>();
    lane.compressor->add(reader.take(length), scale, sum);
  }
  reader.end();
}

double Compression::encode_seconds(Lanes which) const {
  return seconds(which, &Speed::encode);
}

double Compression::decode_seconds(Lanes which) const {
  return seconds(which, &Speed::decode);
}

double Compression::seconds(Lanes which, double Speed::*speed) const {
  double sum = 0;
  for (const Lane& lane : lanes_) {
    if (which != Lanes::kAll && gathers(lane) != (which == Lanes::kGathered)) continue;
    const auto bytes = static_cast<double>(size_of(lane.runs) * sizeof(float));
    sum += bytes / (lane.compressor->speed().*speed);
  }
  return sum;
}

void Compression::state(StateVisitor& visitor) {
  visitor.integer("messages", messages_);
  const std::int64_t before = phase_;
  visitor.integer("phase", phase_);
  if (phase_ < 0 || phase_ >= static_cast<std::int64_t>(plan_.phases())) {
    throw DataError("a checkpoint is in phase {} of a compression of {}", phase_, plan_.phases());
  }
  if (phase_ != before) lanes_ = make_lanes(static_cast<std::size_t>(phase_), feedback_);
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    StateScope lane(visitor, fmt::format("lane{}", i));
    lanes_[i].compressor->state(lane);
  }
}

}  // namespace lockstep
