// One rank's door to the others. Everything above talks, waits and tells time through this
// interface only, so the same algorithm runs on threads, on MPI processes and on simulated hosts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "lockstep/base/function_view.h"
#include "lockstep/transport/recycled.h"
#include "lockstep/transport/shared_space.h"

namespace lockstep {

inline constexpr int kAnyRank = -1;

// Messages match by sender and tag, in the order they were sent. Companions and strategies that
// talk at the same time as the main lane use tags of their own.
using Tag = std::uint32_t;
inline constexpr Tag kTagLimit = 1u << 22;  // MPI libraries offer no more everywhere
inline constexpr std::size_t kMessageLimit = 1u
                                             << 30;  // bytes a message; Group splits long vectors

// A transport's own record of a message under way. Destroying one that is not complete withdraws
// it, so that no peer touches its buffer any more.
class Transfer : public Recycled {
 public:
  Transfer(int with, Tag under, std::size_t count) : peer(with), tag(under), bytes(count) {}
  virtual ~Transfer() = default;
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  int peer;  // of a receive from kAnyRank: the sender, once complete
  Tag tag;
  std::size_t bytes;  // of a receive: how many arrived, once complete
  bool complete = false;
  double first_test = 0;  // when test() first found it incomplete; 0: not yet
};

class Request {
 public:
  Request() = default;
  explicit Request(std::unique_ptr<Transfer> transfer) : transfer_(std::move(transfer)) {}

  bool active() const { return transfer_ && !transfer_->complete; }
  int peer() const { return transfer_->peer; }
  std::size_t bytes() const { return transfer_->bytes; }
  Transfer* transfer() const { return transfer_.get(); }

 private:
  std::unique_ptr<Transfer> transfer_;
};

// A companion at work on the same rank. Joins when destroyed.
class Companion {
 public:
  virtual ~Companion() = default;
  virtual void join() = 0;  // waits for its end; a companion's error ends the whole run
};
using Task = std::unique_ptr<Companion>;

class Transport {
 public:
  // Shows `data`, which stands `offset` bytes into what is being read.
  using Visit = FunctionView<void(std::size_t offset, std::span<const std::byte> data)>;

  virtual ~Transport() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual int host_of(int rank) const = 0;  // ranks with equal numbers share a machine

  // The buffer belongs to the transport until the wait is over. Ranks may send to themselves.
  virtual Request isend(int to, Tag tag, std::span<const std::byte> data) = 0;
  // The message may be shorter than the buffer, not longer. `from` may be kAnyRank.
  virtual Request irecv(int from, Tag tag, std::span<std::byte> buffer) = 0;
  // Both throw a CommError that names peer, operation and what every rank was doing, when the
  // time-out is over or another rank has failed.
  virtual void wait(Request& request) = 0;
  virtual bool test(Request& request) = 0;  // true when complete; never blocks

  // Reads `bytes` bytes that `from` sent as messages of `piece` bytes each (the last may be
  // shorter) and shows them in order, where possible in the sender's own memory.
  virtual void read(int from, Tag tag, std::size_t bytes, std::size_t piece, const Visit& visit);

  // Seconds, of the wall or of the simulation, from an origin all ranks share.
  virtual double now() const = 0;
  // Is that a simulated clock, which only messages and the next two move?
  virtual bool simulated() const { return false; }
  // Modelled work: takes `seconds` of simulated time, nothing on real transports.
  virtual void charge(double seconds) = 0;
  // Lets time pass, real or simulated: a worker that is made slow on purpose.
  virtual void pause(double seconds) = 0;
  // How large the pieces of a pipelined message should be here.
  virtual std::size_t piece_bytes() const = 0;

  // Runs `body` beside this rank, with a transport of its own that has the same rank.
  virtual Task spawn(std::function<void(Transport&)> body) = 0;

  // Where `ranks` (this one among them) see each other's memory: the place to meet there.
  // Otherwise nothing. All of `ranks` must ask, in the same order of requests.
  virtual std::shared_ptr<SharedSpace> shared_space(std::span<const int> ranks) = 0;

  // What this rank is doing, for error reports, counters and timelines. The texts must outlive the
  // call of the matching end.
  virtual void begin_operation(const char* name) = 0;
  virtual void step(const char* phase, int index, int count) = 0;
  virtual void end_operation() = 0;
};

// An operation from here to the end of the block. Not ended when an exception passes through:
// the report should still show it.
class Operation {
 public:
  Operation(Transport& transport, const char* name);
  ~Operation();
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

 private:
  Transport& transport_;
  int exceptions_;
};

}  // namespace lockstep
