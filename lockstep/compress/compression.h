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

class Compression {
 public:
  struct Lane {
    std::string name;
    std::vector<Layer> layers;
    std::unique_ptr<Compressor> compressor;
    std::vector<Range> runs;  // of the layers
  };

  // A part of the vector that messages are about, counted from its begin.
  struct Part {
    std::size_t begin = 0, end = ~std::size_t{0};
  };

  // `stream` tells apart what random numbers are drawn for; those of all streams differ. Of a part,
  // layers have the compressors that they have in the whole.
  Compression(const CompressionPlan& plan, std::span<const Layer> layers, std::uint64_t seed,
              std::uint64_t stream, Feedback feedback, Part part);
  Compression(const CompressionPlan& plan, std::span<const Layer> layers, std::uint64_t seed,
              std::uint64_t stream, Feedback feedback)
      : Compression(plan, layers, seed, stream, feedback, Part()) {}

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

  // As modelled, of a message of the present lanes: all of them, or those that gather, or the rest.
  enum class Lanes { kAll, kGathered, kAdded };
  double encode_seconds(Lanes which = Lanes::kAll) const;
  double decode_seconds(Lanes which = Lanes::kAll) const;
  void state(StateVisitor& visitor);

 private:
  double seconds(Lanes which, double Speed::*speed) const;
  static bool gathers(const Lane& lane, std::span<const Lane> among);
  std::vector<Lane> make_lanes(std::size_t phase, Feedback feedback) const;
  void put(std::span<const float> values, bool all, Bytes& out);

  const CompressionPlan& plan_;
  std::vector<Layer> layers_;
  std::uint64_t seed_, stream_;
  Feedback feedback_;
  Part part_;
  std::int64_t phase_ = 0, messages_ = 0;
  Moment moment_;
  std::vector<Lane> lanes_;                   // that send
  std::vector<std::vector<Lane>> receivers_;  // by phase
};

}  // namespace lockstep
