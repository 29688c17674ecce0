// What workers and server shards send each other: a header of fixed size and floats behind it, or
// what a compressor has made of them.
#pragma once

#include <cstdint>
#include <span>

#include "lockstep/base/aligned.h"
#include "lockstep/optim/optimizer.h"

namespace lockstep {

// The kinds every shard knows; rules (shard_rule.h) count theirs from kFirstOwn on.
enum ServerKind : std::uint32_t {
  kLeave,  // from every worker: I am done for now. After the last one the shard rests or ends
  kFirstOwn,
};

// What stands behind a header.
enum class Form : std::uint32_t {
  kPlain,        // floats
  kChange,       // compressed; what it leaves out comes with a later one
  kModelChange,  // the same of models that are averaged, from what all knew last
  kOwnModel,     // the same of models that stay: what it leaves out comes again by itself
  kDifference,   // compressed; from the model that the other end knows
};

struct ServerHeader {
  std::uint32_t kind = 0;
  Form form = Form::kPlain;
  std::int32_t worker = 0;     // whose message or answer it is
  std::int64_t clock = 0;      // of a push: the worker's steps; of an answer: what the rule says
  std::int64_t owner = 0;      // the worker whose batch of that step it is about, if that matters
  std::int64_t version = 0;    // of the parameters: updates the shard had applied
  std::int64_t limit = 0;      // of a request: how far workers may go before they meet
  std::int64_t staleness = 0;  // of an answer: how old what the push was made from had become
  std::int64_t rejected = 0;   // of an answer: 1 if the push was too old to be applied
  double lr = 0, weight_decay = 0, epoch = 0;  // the rates of the push's step
  double held = 0;           // of an answer: seconds that the shard let the worker wait
  std::uint64_t values = 0;  // floats behind the header, or bytes of another form

  Rates rates() const { return {lr, weight_decay, epoch}; }
  void set(const Rates& rates) {
    lr = rates.lr;
    weight_decay = rates.weight_decay;
    epoch = rates.epoch;
  }
};

// Header and floats in one piece of memory, as they travel.
class ServerMessage {
 public:
  // With room for more bytes than the floats need, for compressors that fail to shorten something.
  explicit ServerMessage(std::size_t most_values, bool compressed = false);

  // Writes both; `values` at most as many as there is room for.
  std::span<const std::byte> write(ServerHeader header, std::span<const float> values);
  // Header and bytes of another form than kPlain.
  std::span<const std::byte> write_bytes(ServerHeader header, std::span<const std::byte> bytes);
  // The room for a message to arrive in.
  std::span<std::byte> room() { return memory_; }
  // What has arrived in `bytes` bytes. A CommError if it is no such message.
  const ServerHeader& read(std::size_t bytes);
  std::span<const float> values() const;     // none if the form is another
  std::span<const std::byte> bytes() const;  // of another form

 private:
  std::span<const std::byte> put(const ServerHeader& header, std::span<const std::byte> content);

  AlignedVector<std::byte> memory_;
  ServerHeader header_;
};

}  // namespace lockstep
