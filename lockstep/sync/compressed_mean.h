// The mean of vectors that are sent compressed, over the members of one group. How it comes about
// depends on the compressor:
//
//   adds up   an all-reduce of the summands that the compressor makes (16-bit numbers, factors)
//   gather    everybody sends everybody its message, and decodes all
//   owner     every member owns a chunk: it gets what the others' messages have of it, adds up,
//             compresses the sum again with a residual of its own and sends it to everybody
//
// A member sends (M−1)·c bytes to gather and 2(M−1)/M·c with owners, where c is a message's size:
// unless told otherwise, whichever is less. All members end with the same bits.
#pragma once

#include "lockstep/collective/all_reduce.h"
#include "lockstep/collective/collectives.h"
#include "lockstep/compress/compression.h"
#include "lockstep/sync/averaging.h"

namespace lockstep {

class CompressedMean {
 public:
  // For member `index` of `members`. `stream`: of random numbers; those behind it are used too.
  CompressedMean(const CompressionPlan& plan, std::span<const Layer> layers, std::uint64_t seed,
                 std::uint64_t stream, Feedback feedback, int index, int members);

  // Collective.
  AverageCost run(Group& group, const AllReduce& all_reduce, std::span<float> values, double epoch);
  void state(StateVisitor& visitor);

 private:
  using Lane = Compression::Lane;
  class Meter;

  bool by_owners() const { return !to_owners_.empty(); }
  void begin(std::span<float> values, double epoch);
  void add_up(Group& group, const AllReduce& all_reduce, std::span<float> values, Meter& meter);
  void gather(Group& group, std::span<float> values, Meter& meter);
  void through_owners(Group& group, std::span<float> values, double epoch, Meter& meter);
  // What the others send; valid until the next exchange.
  const ByteBlocks& send_everybody(Group& group, BytesView message);
  bool gathers() const;
  std::size_t most() const;
  void clear_gathered(std::span<float> values) const;

  std::size_t size_ = 0;
  int index_, members_;
  Compression whole_;
  std::span<Lane> lanes_;  // of the message under way
  // With owners: what goes to each of them, and what this member sends as one.
  std::vector<Compression> to_owners_;
  std::unique_ptr<Compression> as_owner_;

  // What a message needs while it is under way; kept, so that the next one asks for no memory.
  struct UnderWay {
    std::vector<Summands*> sums;
    std::vector<std::span<float>> floats;
    std::vector<std::pair<std::span<float>, Number>> others;
    AlignedVector<float> together;
    Bytes mine;
    std::vector<Bytes> to_owners;
    std::vector<BytesView> views;
    ByteBlocks from;
    AlignedVector<float> sum;
  };
  UnderWay now_;
  AllReduceCosts costs_;
};

// The random stream of a mean: another one for every worker, group, content and bucket of the
// vector (by where it begins), with room behind it for those of a message's parts. The highest bits
// are 0; servers and peers have others.
std::uint64_t stream_of(int rank, const std::vector<int>& members, Content content,
                        std::size_t bucket = 0);

}  // namespace lockstep
