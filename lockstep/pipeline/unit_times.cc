#include "lockstep/pipeline/unit_times.h"

#include <algorithm>
#include <limits>

#include "lockstep/base/error.h"
#include "lockstep/base/random.h"
#include "lockstep/collective/collectives.h"

namespace lockstep {
namespace {

constexpr int kPasses = 4;     // the first of which does not count
constexpr double kSlow = 0.5;  // seconds; of a unit that takes longer one pass is enough
constexpr Tag kHopTag = 123;
constexpr double kNotYet = std::numeric_limits<double>::infinity();

Batch any_batch(const DataShape& data, std::size_t samples) {
  Batch batch;
  batch.shape = data;
  Random random(1, "any batch");
  for (std::size_t i = 0; i < samples; ++i) batch.ids.push_back(static_cast<SampleId>(i));
  if (data.kind == DataShape::Kind::kTokens) {
    batch.tokens.resize(samples * data.values());
  } else {
    for (std::size_t i = 0; i < samples * data.values(); ++i) {
      batch.values.push_back(static_cast<float>(random.normal()));
    }
  }
  batch.labels.resize(samples * data.labels_per_sample());
  return batch;
}

UnitTimes time_of(Transport& transport, Stage& stage, const Batch& batch) {
  AlignedVector<float> in(batch.size() * stage.in_values(), 0.5f), in_gradient(in.size());
  AlignedVector<float> out(batch.size() * stage.out_values()), out_gradient(out.size());
  const MicroBatch micro{batch};
  UnitTimes best{kNotYet, kNotYet};
  for (int i = 0; i < kPasses; ++i) {
    const double began = transport.now();
    stage.forward(micro, in, out);
    const double forward = transport.now() - began;
    std::ranges::fill(out_gradient, 1e-3f);
    const double turned = transport.now();
    stage.backward(micro, out_gradient, in_gradient, {});
    const double backward = transport.now() - turned;
    const bool slow = forward + backward > kSlow;
    if (i == 0 && !slow) continue;
    best.forward = std::min(best.forward, forward);
    best.backward = std::min(best.backward, backward);
    if (slow) break;
  }
  return best;
}

// Seconds there and back.
double round_trip(Transport& transport, int other, bool leads, std::span<std::byte> bytes) {
  const double began = transport.now();
  const auto send = [&] {
    Request leaves = transport.isend(other, kHopTag, bytes);
    transport.wait(leaves);
  };
  if (leads) send();
  Request arrives = transport.irecv(other, kHopTag, bytes);
  transport.wait(arrives);
  if (!leads) send();
  return transport.now() - began;
}

}  // namespace

std::vector<UnitTimes> measure_units(Group& group, const ModelKind& model,
                                     const ModelSettings& settings,
                                     const std::vector<ModelUnit>& units, std::size_t samples) {
  if (group.transport().simulated()) return modelled_times(units, samples);
  const Batch batch = any_batch(settings.data, samples);
  const auto members = static_cast<std::size_t>(group.size());
  std::vector<float> mine;
  for (auto i = static_cast<std::size_t>(group.index()); i < units.size(); i += members) {
    const auto stage = model.make_stage(settings, {i, 1});
    const UnitTimes time = time_of(group.transport(), *stage, batch);
    mine.push_back(static_cast<float>(time.forward));
    mine.push_back(static_cast<float>(time.backward));
  }
  const auto all = all_gather_varied(group, mine);
  std::vector<UnitTimes> times;
  for (std::size_t i = 0; i < units.size(); ++i) {
    const auto& theirs = all[i % members];
    const std::size_t at = i / members * 2;
    if (at + 1 >= theirs.size()) throw CommError("a rank sent times of too few units");
    times.push_back({theirs[at], theirs[at + 1]});
  }
  return times;
}

LinkTimes measure_hop(Transport& transport, int other, bool leads) {
  constexpr std::size_t kSmall = 64, kLarge = 1 << 20;
  constexpr int kTrips = 5;
  AlignedVector<std::byte> bytes(kLarge);
  double small = kNotYet, large = kNotYet;
  for (int i = 0; i < kTrips; ++i) {
    const auto all = std::span(bytes);
    small = std::min(small, round_trip(transport, other, leads, all.first(kSmall)));
    large = std::min(large, round_trip(transport, other, leads, all));
  }
  const double difference = large - small;
  return {small / 2, difference > 0 ? 2.0 * (kLarge - kSmall) / difference : 0};
}

}  // namespace lockstep
