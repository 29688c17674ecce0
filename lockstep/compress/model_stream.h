// Models on their way from one place to others, compressed. Both ends know a model, the same one; a
// message is the compressed difference of the sender's from it, and brings both up to date. What a
// message leaves out is part of the next difference, so errors need no other feedback (CHOCO-SGD,
// Koloskova et al. 2019).
//
// What a compressor makes of a difference d may be longer than d itself (qsgd with few levels), and
// to add that would drive both ends apart. So a message also says how much of it counts: the
// factor ⟨d, C(d)⟩ / ‖C(d)‖², with which it always brings them nearer.
#pragma once

#include "lockstep/base/aligned.h"
#include "lockstep/compress/compression.h"

namespace lockstep {

class ModelStream {
 public:
  // `known`: the model that both ends know as it begins.
  ModelStream(const CompressionPlan& plan, std::span<const Layer> layers,
              std::span<const float> known, std::uint64_t seed, std::uint64_t stream);

  // Appends a message that brings the other end as near to `model` as it can. Returns the squared
  // distance that is left.
  double encode(std::span<const float> model, double epoch, Bytes& out);
  // A message has come. A CommError if it is none.
  void take(BytesView message) { add(compression_, message, known_); }
  // The same at an end that keeps what it knows itself.
  static void add(const Compression& compression, BytesView message, std::span<float> known);
  // Both ends have learned of this model by another way.
  void know(std::span<const float> model);

  std::span<const float> known() const { return known_; }
  double encode_seconds() const { return compression_.encode_seconds(); }
  void state(StateVisitor& visitor);

 private:
  Compression compression_;
  AlignedVector<float> known_, difference_, sent_;
};

}  // namespace lockstep
