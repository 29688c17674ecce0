#include "lockstep/base/aligned.h"

#include <atomic>
#include <cstring>

namespace lockstep {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kLarge = std::size_t{1} << 18;  // bytes; smaller blocks come to lie anywhere
constexpr auto kAlign = std::align_val_t(kAlignment);

// Where the next large block begins in its page: never at 0, for the line before holds where it was
// allocated, and far from where the last ones began.
std::size_t next_offset() {
  constexpr unsigned kLines = kPage / kAlignment;
  constexpr unsigned kApart = 23;  // has no divisor in common with 63: all lines come in turn
  static std::atomic<unsigned> blocks{0};
  const unsigned line = blocks.fetch_add(1, std::memory_order_relaxed) * kApart % (kLines - 1);
  return (1 + line) * kAlignment;
}

}  // namespace

void* allocate_aligned(std::size_t bytes) {
  if (bytes < kLarge || bytes > static_cast<std::size_t>(-1) - kPage) {
    return ::operator new(bytes, kAlign);
  }
  auto* const block = static_cast<std::byte*>(::operator new(bytes + kPage, kAlign));
  std::byte* const begin = block + next_offset();
  std::memcpy(begin - sizeof block, &block, sizeof block);
  return begin;
}

void free_aligned(void* memory, std::size_t bytes) noexcept {
  if (bytes < kLarge || bytes > static_cast<std::size_t>(-1) - kPage) {
    return ::operator delete(memory, kAlign);
  }
  std::byte* block;
  std::memcpy(&block, static_cast<std::byte*>(memory) - sizeof block, sizeof block);
  ::operator delete(block, kAlign);
}

}  // namespace lockstep
