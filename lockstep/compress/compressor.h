// What is sent: a compressor makes a short message of a vector, and adds what a message holds to
// another vector. It works on some layers of a flat vector, the same on both sides; what lies
// between them it does not touch.
//
// How messages of several workers become a mean depends on what they are. Those of some compressors
// add up (Summands below): an all-reduce works on them. The others are gathered and decoded by
// everybody, or decoded and compressed again by the owner of a chunk, or decoded at a server.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "lockstep/base/layer.h"
#include "lockstep/base/number.h"
#include "lockstep/base/range.h"
#include "lockstep/base/registry.h"
#include "lockstep/base/state.h"
#include "lockstep/compress/bytes.h"

namespace lockstep {

// When and by whom a message is made.
struct Moment {
  double epoch = 0;
  std::uint64_t key = 0;  // of whatever is random: another one for every message
};

// How fast a core compresses and takes up, in bytes of floats a second: what a simulated cluster
// charges. By `lockstep bench compress`, to one digit.
struct Speed {
  double encode = 10e9, decode = 10e9;
};

// The face of compressors whose messages add up: what they are made of is averaged over the
// members, by any all-reduce, in one round or several.
class Summands {
 public:
  virtual ~Summands() = default;
  virtual int rounds() const = 0;
  virtual Number number() const { return Number::kFloat; }  // in which they travel
  // What all members are to average in this round; it holds the mean when the next one begins.
  // `values` and `mean` are the same in all rounds of a message; the summands may lie in `mean`,
  // which may be `values`.
  virtual std::span<float> summands(int round, std::span<const float> values, std::span<float> mean,
                                    const Moment& moment) = 0;
  // After the last round. Writes the mean into `mean`, and takes from `rest` what this member has
  // sent itself; `rest` is `values`, or empty.
  virtual void finish(std::span<float> mean, std::span<float> rest) = 0;
};

class Compressor {
 public:
  virtual ~Compressor() = default;

  // Once, before anything else. Offsets of layers are those of the vectors to come.
  virtual void prepare(std::span<const Layer> layers) = 0;
  // Appends a message. A TrainingError that names the layer if a value is not finite.
  virtual void encode(std::span<const float> values, const Moment& moment, Bytes& out) = 0;
  // sum += scale × what the message holds. A CommError if it is no such message.
  virtual void add(BytesView message, float scale, std::span<float> sum) const = 0;
  // Sets to zero what the message has sent; of those that send values themselves and not all.
  virtual void clear_sent(BytesView message, std::span<float> values) const;

  // Adds to `sum` what it still holds back of earlier messages, and holds nothing back any more.
  virtual void release(std::span<float>) {}
  virtual std::span<const float> residual() const { return {}; }  // what it holds back

  virtual bool biased() const = 0;  // does it need its errors fed back by default?
  virtual bool lossless() const { return false; }
  virtual bool nearly_exact() const { return false; }  // every value, to a few digits or all
  // Does it look at a layer as a whole, so that a chunk's border should not cut one?
  virtual bool whole_layers() const { return false; }
  // Bytes of a message, about: what ways to combine are compared by.
  virtual double expected_bytes(const Moment& moment) const = 0;
  virtual Speed speed() const = 0;
  virtual Summands* summands() { return nullptr; }
  virtual void state(StateVisitor&) {}
};

template <>
Registry<Compressor>& Registry<Compressor>::instance();

// Consecutive layers put together: what loops go over.
std::vector<Range> runs_of(std::span<const Layer> layers);
std::size_t size_of(std::span<const Range> runs);

// Throws a TrainingError that names the first layer with a value that is not finite.
[[noreturn]] void refuse_non_finite(std::span<const float> values, std::span<const Layer> layers);

}  // namespace lockstep
