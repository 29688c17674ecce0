// Who averages: an all-reduce among the members, or the parameter server.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>

#include "lockstep/base/function_view.h"
#include "lockstep/base/range.h"
#include "lockstep/base/state.h"
#include "lockstep/collective/all_reduce.h"
#include "lockstep/server/server_client.h"
#include "lockstep/sync/agreed_models.h"

namespace lockstep {

// What is averaged, which decides what may be left out of it.
enum class Content {
  kChange,    // gradients and the like: what a message leaves out may come with the next
  kModel,     // parameters that all members give up for their mean: of these, differences from what
              // all knew last can be shortened
  kOwnModel,  // the same of parameters that members keep: what is left out comes again by itself
  kOther,     // running statistics, sums: sent as they are
};

// What one member sends, receives and goes through for an average.
struct AverageCost {
  std::uint64_t sent = 0, received = 0;
  std::uint64_t rounds = 0;
  std::uint64_t plain = 0;            // bytes that it would have sent without compression
  double encoding = 0, decoding = 0;  // seconds
  double blocked = 0;                 // seconds that the member did nothing else
  double hidden = 0;                  // seconds of it that the member computed meanwhile
  bool beside = false;                // did a companion do it?

  AverageCost& operator+=(const AverageCost& other);  // bytes, rounds, and encoding and decoding
};

// Part of the vector has its average.
using OnPart = FunctionView<void(Range part)>;

class Averaging {
 public:
  virtual ~Averaging() = default;
  // Collective. The mean over the members, the same bits on all of them. Tells which parts are
  // there, in any order and as soon as they are; all of them make up the vector.
  virtual AverageCost average(Group& group, std::span<float> values, Content content,
                              const OnPart& on_part) = 0;
  // Of an average that is not compressed.
  virtual AverageCost cost(Group& group, std::size_t n) const = 0;
  // All members hold this model now, without having averaged it.
  virtual void know(Group&, std::span<const float>) {}
  // A step begins; what follows belongs to it.
  virtual void begin_step(double /*epoch*/) {}
  virtual void state(StateVisitor&) {}
  // Whose messages are combined how, as a user reads it; empty if there is nothing to say.
  virtual std::string findings() const { return ""; }
};

// Those that average the whole vector at once.
class WholeAveraging : public Averaging {
 public:
  AverageCost average(Group& group, std::span<float> values, Content content,
                      const OnPart& on_part) final;

 protected:
  virtual AverageCost run(Group& group, std::span<float> values, Content content) = 0;
};

// What an all-reduce costs a member. Kept, for there are few cases, and every step asks.
class AllReduceCosts {
 public:
  const AverageCost& of(const AllReduce& algorithm, int members, int index, std::size_t n);

 private:
  std::map<std::tuple<const AllReduce*, int, int, std::size_t>, AverageCost> costs_;
};

class AllReduceAveraging : public WholeAveraging {
 public:
  explicit AllReduceAveraging(const AllReduce& algorithm) : algorithm_(algorithm) {}
  AverageCost cost(Group& group, std::size_t n) const override;

 protected:
  AverageCost run(Group& group, std::span<float> values, Content content) override;

 private:
  const AllReduce& algorithm_;
  mutable AllReduceCosts costs_;
};

// Vectors as long as the parameters go through the server; shorter ones, such as running
// statistics, through the all-reduce.
class ServerAveraging : public WholeAveraging {
 public:
  ServerAveraging(ServerClient& server, const AllReduce& others)
      : server_(server), others_(others) {}
  // From now on messages may be compressed: of models, their difference from what all know.
  void compress(AgreedModels agreed) { agreed_.emplace(std::move(agreed)); }

  AverageCost cost(Group& group, std::size_t n) const override;
  void know(Group& group, std::span<const float> model) override {
    if (agreed_) agreed_->agree(group.ranks(), model);
  }
  void state(StateVisitor& visitor) override {
    if (agreed_) agreed_->state(visitor);
  }

 protected:
  AverageCost run(Group& group, std::span<float> values, Content content) override;

 private:
  void ask(Group& group, std::span<float> values, Form form);
  bool fits(std::size_t n) const { return n == server_.map().size(); }
  ServerClient& server_;
  AllReduceAveraging others_;
  std::optional<AgreedModels> agreed_;
};

}  // namespace lockstep
