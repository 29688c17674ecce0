#include "lockstep/transport/doorbell.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>

namespace lockstep {

static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

// Not the private kind of futex: the word may be shared between processes.
void Doorbell::ring() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (sleepers_.load(std::memory_order_seq_cst) == 0) return;
  rings_.fetch_add(1, std::memory_order_seq_cst);
  syscall(SYS_futex, &rings_, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

std::uint32_t Doorbell::arm() {
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  const std::uint32_t rings = rings_.load(std::memory_order_seq_cst);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return rings;
}

void Doorbell::sleep(std::uint32_t armed, double most_seconds) {
  timespec limit{};
  limit.tv_sec = static_cast<time_t>(most_seconds);
  limit.tv_nsec = static_cast<long>((most_seconds - static_cast<double>(limit.tv_sec)) * 1e9);
  syscall(SYS_futex, &rings_, FUTEX_WAIT, armed, &limit, nullptr, 0);
}

void Doorbell::disarm() {
  sleepers_.fetch_sub(1, std::memory_order_seq_cst);
}

}  // namespace lockstep
