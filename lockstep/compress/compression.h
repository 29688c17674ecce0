// One sender's compressed messages about one vector: all lanes of the plan, each by its compressor,
// and what they hold back. When the plan goes on to another compressor, what the old one still
// holds back goes out with the first message of the new.
//
// A message: version, phase of the plan, which lanes it has (a byte each), then lane by lane its
// length and content.
#pragma once

#include <memory>
#include <vector>

#include "lockstep/compress/compression_plan.h"

namespace lockstep {

// Is what messages leave out fed back, as the plan says?
enum class Feedback { kAsPlanned, kNone };

class Compression {
 public:
  struct Lane {
    std::string name;
    std::vector<Layer> layers;
    std::unique_ptr<Compressor> compressor;
  };

  // `stream` tells apart what random numbers are drawn for; those of all streams differ.
  Compression(const CompressionPlan& plan, std::span<const Layer> layers, std::uint64_t seed,
              std::uint64_t stream, Feedback feedback = Feedback::kAsPlanned);

  // Does this lane of the present ones not add up? Plain layers go with those that do not, where
  // there are any: a message more would cost more than they.
  bool gathers(const Lane& lane) const { return gathers(lane, lanes_); }
  bool changes(double epoch) const;  // would a message of this epoch have other compressors?
  // Begins a message: the lanes of this epoch. Adds to `values` what earlier lanes held back.
  std::span<Lane> begin(std::span<float> values, double epoch);
  const Moment& moment() const { return moment_; }  // of the message that was begun
  // Appends what the message that was begun has of lanes that gather.
  void encode_gathered(std::span<const float> values, Bytes& out);

  // Begins a message and appends all of it.
  void encode(std::span<const float> values, double epoch, Bytes& out);
  // sum += scale × what it holds. A CommError if it is no message of this plan.
  void add(BytesView message, float scale, std::span<float> sum) const;

  double encode_seconds() const;  // as modelled, of a message of the present lanes
  double decode_seconds() const;
  void state(StateVisitor& visitor);

 private:
  static bool gathers(const Lane& lane, std::span<const Lane> among);
  std::vector<Lane> make_lanes(std::size_t phase, bool send) const;
  void put(std::span<const float> values, bool all, Bytes& out);

  const CompressionPlan& plan_;
  std::vector<Layer> layers_;
  std::uint64_t seed_, stream_;
  Feedback feedback_;
  std::int64_t phase_ = 0, messages_ = 0;
  Moment moment_;
  std::vector<Lane> lanes_;                   // that send
  std::vector<std::vector<Lane>> receivers_;  // by phase
};

}  // namespace lockstep
