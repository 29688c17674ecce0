#include "lockstep/transport/shared_space.h"

#include <fmt/format.h>

#include <new>

#include "lockstep/transport/waiter.h"

namespace lockstep {

// Two cards by turns: when somebody lays down the next but one, all have been to the meeting in
// between and have read the first.
struct alignas(128) SharedSpace::Seat {
  std::atomic<std::uint32_t> round{0};
  Card cards[2];
};

struct SharedSpace::Table {
  alignas(128) Doorbell bell;
  Seat seats[1];  // as many as there are ranks
};

std::size_t SharedSpace::table_bytes(int ranks) {
  return sizeof(Table) + sizeof(Seat) * static_cast<std::size_t>(ranks - 1);
}

SharedSpace::SharedSpace(void* table, std::vector<int> ranks, int index, Waiter& waiter,
                         std::shared_ptr<void> keep, std::vector<std::span<std::byte>> windows)
    : table_(std::launder(reinterpret_cast<Table*>(table))),
      ranks_(std::move(ranks)),
      index_(index),
      waiter_(waiter),
      keep_(std::move(keep)),
      windows_(std::move(windows)) {}

void SharedSpace::meet(const Card& mine) {
  ++round_;
  Seat* const seats = table_->seats;
  Seat& seat = seats[index_];
  seat.cards[round_ % 2] = mine;
  seat.round.store(round_, std::memory_order_release);
  table_->bell.ring();

  const int count = size();
  int missing = 0;
  const auto all_here = [&] {
    // Differences, so that the counter may wrap.
    while (missing < count &&
           static_cast<std::int32_t>(seats[missing].round.load(std::memory_order_acquire) -
                                     round_) >= 0) {
      ++missing;
    }
    return missing == count;
  };
  waiter_.until(
      all_here, [&] { return missing < count ? ranks_[static_cast<std::size_t>(missing)] : -1; },
      "meet", &table_->bell);

  for (int i = 0; i < count; ++i) {
    const Card& other = card(i);
    if (other.bytes != mine.bytes || other.kind != mine.kind) {
      waiter_.fail(fmt::format(
          "rank {} came with {} bytes and rank {} with {}{}: the ranks are not in the same "
          "operation, or disagree about its size",
          ranks_[static_cast<std::size_t>(index_)], mine.bytes, ranks_[static_cast<std::size_t>(i)],
          other.bytes, other.kind == mine.kind ? "" : " for another operation"));
    }
  }
}

const SharedSpace::Card& SharedSpace::card(int i) const {
  return table_->seats[i].cards[round_ % 2];
}

}  // namespace lockstep
