// Ranks that see each other's memory, and the place where they meet. At a meeting everybody lays
// down a card that says where its buffer is; when all have come, everybody may read the cards.
//
// Between threads a card's address can be used as it is (direct). Between processes only the
// windows can: memory of each rank that all of them have mapped.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "lockstep/transport/doorbell.h"

namespace lockstep {

class Waiter;

class SharedSpace {
 public:
  struct Card {
    void* data = nullptr;
    std::size_t bytes = 0;
    std::uint64_t kind = 0;  // what the bringer thinks this meeting is for
    bool operator==(const Card&) const = default;
  };

  // The memory all ranks of the space share; zeroed at the start.
  static std::size_t table_bytes(int ranks);

  // `keep` holds the memory alive. `windows` is empty where the space is direct.
  SharedSpace(void* table, std::vector<int> ranks, int index, Waiter& waiter,
              std::shared_ptr<void> keep, std::vector<std::span<std::byte>> windows = {});

  int index() const { return index_; }
  int size() const { return static_cast<int>(ranks_.size()); }
  bool direct() const { return windows_.empty(); }
  std::span<std::byte> window(int i) const { return windows_[static_cast<std::size_t>(i)]; }

  // Which half of the windows is whose turn: 0 and 1 alternate, call by call, on all members alike.
  // With a meeting between two calls, nobody still reads the half that is written next but one.
  std::size_t next_half() { return turns_++ % 2; }

  // Whoever brings data lends it: from this meeting to the next, to which it brings none, the
  // others may use it. If the run fails in between, no exception leaves before they are done with
  // it. Returns when all have come. Size and kind of the cards must agree: otherwise a CommError
  // names the ranks, for they are not in the same operation.
  void meet(const Card& mine);
  // What rank i brought to the last meeting; valid until the next meeting but one begins.
  const Card& card(int i) const;

 private:
  struct Seat;
  struct Table;
  void await_all();
  void check_cards(const Card& mine);
  void take_back();
  Table* table_;
  std::vector<int> ranks_;
  int index_;
  Waiter& waiter_;
  std::shared_ptr<void> keep_;
  std::vector<std::span<std::byte>> windows_;
  std::uint32_t round_ = 0;
  std::size_t turns_ = 0;
};

}  // namespace lockstep
