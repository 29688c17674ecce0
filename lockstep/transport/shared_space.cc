#include "lockstep/transport/shared_space.h"

#include <fmt/format.h>
#include <sched.h>

#include <new>

#include "lockstep/transport/waiter.h"

namespace lockstep {

// Two cards by turns: when somebody lays down the next but one, all have been to the meeting in
// between and have read the first.
struct alignas(128) SharedSpace::Seat {
  std::atomic<std::uint32_t> round{0};
  std::atomic<std::uint32_t> borrows{0};  // may be using the others' data
  std::atomic<std::uint32_t> gone{0};     // has left by an exception and taken its data back
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
  Seat& seat = table_->seats[index_];
  // Said before anybody can see that all are here: who leaves after that knows whom to wait for.
  seat.borrows.store(direct() && mine.data != nullptr ? 1 : 0);
  ++round_;
  seat.cards[round_ % 2] = mine;
  seat.round.store(round_, std::memory_order_release);
  table_->bell.ring();
  try {
    await_all();
    check_cards(mine);
  } catch (...) {
    take_back();
    throw;
  }
}

void SharedSpace::await_all() {
  Seat* const seats = table_->seats;
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
}

void SharedSpace::check_cards(const Card& mine) {
  for (int i = 0; i < size(); ++i) {
    const int rank = ranks_[static_cast<std::size_t>(i)];
    if (table_->seats[i].gone.load() != 0) {
      waiter_.fail(fmt::format("rank {} left a meeting by an error", rank));
    }
    const Card& other = card(i);
    if (other.bytes != mine.bytes || other.kind != mine.kind) {
      waiter_.fail(fmt::format(
          "rank {} came with {} bytes and rank {} with {}{}: the ranks are not in the same "
          "operation, or disagree about its size",
          ranks_[static_cast<std::size_t>(index_)], mine.bytes, rank, other.bytes,
          other.kind == mine.kind ? "" : " for another operation"));
    }
  }
}

// Either a member sees that this one has gone, or this one sees that the member borrows and waits
// until it is done: it computes, and then comes to a meeting, where it learns of the failure.
void SharedSpace::take_back() {
  Seat& seat = table_->seats[index_];
  seat.gone.store(1);
  seat.borrows.store(0);
  if (!direct()) return;
  for (int i = 0; i < size(); ++i) {
    while (table_->seats[i].borrows.load() != 0) sched_yield();
  }
}

const SharedSpace::Card& SharedSpace::card(int i) const {
  return table_->seats[i].cards[round_ % 2];
}

}  // namespace lockstep
