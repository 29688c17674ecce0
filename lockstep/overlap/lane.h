// A rank's communication lane: a companion that does numbered pieces of work one after the other,
// in the order in which they were handed over, while the rank computes. Both talk by messages of
// the rank to itself, as waiting belongs to the transport:
//
//   rank       compute ─ give 0 ─ compute ─ give 1 ─ compute ─ wait ─ wait
//   companion            work 0 …………………… done, work 1 ………………… done
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <vector>

#include "lockstep/transport/transport.h"

namespace lockstep {

class Lane {
 public:
  using Work = std::function<void(std::uint32_t job)>;
  // Called once on the companion, with its transport, which lives as long as the lane.
  using Setup = std::function<Work(Transport& beside)>;

  // At most `most` jobs are under way at a time. `tag` and tag+1 must be nobody else's.
  Lane(Transport& transport, Tag tag, std::size_t most, Setup setup);
  ~Lane();  // when all jobs given were waited for
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  void give(std::uint32_t job);
  void wait();  // for the end of the earliest job that was not waited for
  bool idle() const { return given_ == done_; }

 private:
  void serve(Transport& beside, const Setup& setup);

  struct Order {
    std::uint32_t job = 0;
    Request request;
  };

  Transport& transport_;
  const Tag order_tag_, done_tag_;
  std::vector<Order> orders_;
  std::uint64_t given_ = 0, done_ = 0;
  int exceptions_;
  Task companion_;  // last: it is joined before what it uses is gone
};

}  // namespace lockstep
