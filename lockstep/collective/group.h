// A transport seen through a list of ranks: member i of the group is rank ranks()[i]. Collectives
// are written against this: they move and combine spans of floats between members, and long spans
// go in pieces so that one piece can travel on while the next one arrives.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include <boost/container/small_vector.hpp>

#include "lockstep/base/aligned.h"
#include "lockstep/base/number.h"
#include "lockstep/collective/reduce_op.h"
#include "lockstep/transport/transport.h"

namespace lockstep {

// Watches a group at work; `lockstep explain` is one. Called on the thread of the rank.
class GroupObserver {
 public:
  virtual ~GroupObserver() = default;
  virtual void on_step(const char* phase, int index, int count) = 0;
  virtual void on_send(int to_rank, std::span<const float> data) = 0;
  // Called after `into` has changed.
  virtual void on_receive(int from_rank, std::span<const float> into) = 0;
  virtual void on_combine(int from_rank, std::span<const float> into, ReduceOp op) = 0;
};

// Seldom more than a few; then they need no memory of their own.
using Requests = boost::container::small_vector<Request, 8>;
using Narrowed = boost::container::small_vector<AlignedVector<std::uint16_t>, 8>;

// Sends under way. wait() before the data may change; destroying it unwaited withdraws them.
class Group;

class Outgoing {
 public:
  Outgoing() = default;
  void wait();
  void join(Outgoing&& other);  // takes over another's sends

 private:
  friend class Group;
  Group* group_ = nullptr;
  // What they send, where it is no floats; outlives them.
  Narrowed narrowed_;
  Requests requests_;
};

class Group {
 public:
  static constexpr Tag kTag = 1;  // of groups whose user asks for none of his own

  explicit Group(Transport& transport, Tag tag = kTag);  // everybody
  // `ranks` without repetition, this one among them. Every member must make it, with equal lists.
  Group(Transport& transport, std::vector<int> ranks, Tag tag = kTag);

  int index() const { return index_; }
  int size() const { return static_cast<int>(ranks_.size()); }
  int rank(int member) const { return ranks_[static_cast<std::size_t>(member)]; }
  const std::vector<int>& ranks() const { return ranks_; }
  Transport& transport() { return transport_; }
  std::size_t piece() const;  // floats in a piece of a pipelined message

  // The group of some of the members, by their indices here; made once and kept.
  Group& part(std::span<const int> members);
  // Where all members see each other's memory: the place to meet. Otherwise null. All members
  // must ask when one does.
  SharedSpace* shared();

  // Memory for a collective under way, valid until the next call.
  std::span<float> scratch(std::size_t floats);

  // From now on floats travel as these numbers, and no memory is shared. They are added as floats;
  // where a collective ends, all members hold what travelled.
  void travel_as(Number number) { number_ = number; }
  Number number() const { return number_; }

  void observe(GroupObserver* observer) { observer_ = observer; }
  // Announces a step: for error reports, counters and observers.
  void step(const char* phase, int index, int count);

  // All data in pieces of piece() floats, without waiting.
  [[nodiscard]] Outgoing send(int to, std::span<const float> data);
  void receive(int from, std::span<float> into);
  void combine_from(int from, std::span<float> into, ReduceOp op);  // into = op(into, theirs)
  // sum = x0 op x1 op …, in the order of the members, where `mine` is this member's x and the
  // others have sent theirs. All of them travel at once, a piece at a time.
  void combine_in_order(std::span<float> sum, std::span<const float> mine, ReduceOp op);
  // The same for everything that is not a vector of floats; observers do not see it.
  [[nodiscard]] Outgoing send_bytes(int to, std::span<const std::byte> data);
  void receive_bytes(int from, std::span<std::byte> into);

 private:
  friend class Outgoing;
  Outgoing send_narrowed(int to, std::span<const float> data);
  // Hands on what arrives a piece at a time, as floats.
  void receive_narrowed(int from, std::size_t n,
                        FunctionView<void(std::size_t at, std::span<const float>)> take);
  struct InOrder {  // lists of members, whatever holds them
    using is_transparent = void;
    bool operator()(std::span<const int> a, std::span<const int> b) const {
      return std::ranges::lexicographical_compare(a, b);
    }
  };
  // One message of exactly this size, or a CommError.
  void finish_receive(Request& request, int from, std::size_t expected);

  Transport& transport_;
  std::vector<int> ranks_;
  int index_;
  Tag tag_;
  GroupObserver* observer_ = nullptr;
  Number number_ = Number::kFloat;
  bool asked_for_space_ = false;
  std::shared_ptr<SharedSpace> space_;
  std::map<std::vector<int>, std::unique_ptr<Group>, InOrder> parts_;
  // Used again and again.
  AlignedVector<float> scratch_, arrivals_;
  AlignedVector<std::uint16_t> narrow_arrivals_;
  Narrowed spare_;  // of sends that are over
};

}  // namespace lockstep
