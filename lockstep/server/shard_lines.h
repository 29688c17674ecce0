// A shard's lines to its workers: turns what they send into values, and its rule's answers into
// messages. Without [compress] both are floats as they are.
//
// Compressed pushes of changes carry their own feedback. Of models both ends keep what the other
// one knows (compress/model_stream.h): the shard, for every worker, the parameters that it has of
// the shard, and what it has said of its own.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "lockstep/compress/model_stream.h"
#include "lockstep/server/shard_rule.h"
#include "lockstep/transport/transport.h"

namespace lockstep {

// How a shard's slice is compressed.
struct ShardCompression {
  const CompressionPlan& plan;
  std::vector<Layer> layers;      // of the slice
  std::span<const float> params;  // as training begins
  std::uint64_t seed = 1;
  int shard = 0;
};

class ShardLines {
 public:
  ShardLines(std::size_t size, int workers, const ShardCompression* compression);

  bool compressed() const { return plan_ != nullptr; }
  // The values of a request; valid until the next call. A CommError for what is no such message.
  std::span<const float> values_of(const ServerHeader& header, const ServerMessage& message);
  // What goes back in `line`.
  std::span<const std::byte> write(ServerMessage& line, ServerHeader header,
                                   std::span<const float> values);
  // The same change for all: its bytes, or nothing where it is sent as it is.
  std::optional<BytesView> change_for(const std::vector<int>& workers, const ServerHeader& header,
                                      std::span<const float> values);
  void state(StateVisitor& visitor);

 private:
  using Receivers = std::pair<Form, std::vector<int>>;
  Compression& common_change(const Receivers& receivers);
  ModelStream& stream_of(std::map<int, ModelStream>& streams, int worker, int kind);

  std::size_t size_;
  const CompressionPlan* plan_ = nullptr;
  std::vector<Layer> layers_;
  AlignedVector<float> start_;
  std::uint64_t seed_ = 1;
  int shard_ = 0, workers_;
  std::unique_ptr<Compression> changes_;  // decodes pushes
  std::map<int, ModelStream> from_, to_;  // by worker
  std::map<Receivers, Compression> common_changes_;
  AlignedVector<float> decoded_;
  Bytes bytes_;
};

}  // namespace lockstep
