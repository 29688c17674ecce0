// Who takes which step of stale-synchronous training. A piece of work is one worker's batch of one
// clock. Every worker goes through its own; one that has none left inside the window takes the next
// of whoever is furthest behind.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace lockstep {

class WorkList {
 public:
  struct Item {
    std::int64_t clock = 0;
    int owner = 0;
  };
  struct Given {
    int worker = 0;
    std::optional<Item> item;  // none: all that is to be done before the meeting has been given
  };

  // Nothing is given at a clock more than `bound` beyond those that are complete.
  WorkList(int workers, std::int64_t bound, bool help);

  // All workers are at this clock, and each takes its own batch of it without asking.
  void start(std::int64_t clock);
  // A worker is done with what it had and wants more; all meet when they are at `limit`.
  void ask(int worker, std::int64_t limit);
  // Nothing beyond the clocks that have been begun is given any more.
  void close();
  // Answers for those who have asked, as far as there are any now.
  std::vector<Given> give(std::int64_t complete);
  std::int64_t limit() const { return limit_; }

 private:
  bool may_begin(std::int64_t clock, std::int64_t complete) const;
  std::optional<Item> furthest_behind(std::int64_t complete) const;
  bool nothing_left(int worker) const;

  std::int64_t bound_;
  bool help_;
  std::int64_t limit_ = 0;
  bool closed_ = false;
  std::vector<std::int64_t> next_;  // by owner: the first clock nobody has taken yet
  std::vector<char> asking_;        // by worker
};

}  // namespace lockstep
