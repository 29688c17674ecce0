#include "tests/allocations/counting_new.h"

#include <execinfo.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <map>
#include <new>

namespace {

std::atomic<bool> counting{false};
std::atomic<std::int64_t> count{0};

// Who called, for the first of them. The two innermost are of this file.
constexpr int kInner = 2, kShown = 5;
using Callers = std::array<void*, kInner + kShown>;
std::array<Callers, 4000> callers;

void* counted(std::size_t bytes, std::size_t alignment) {
  if (counting.load(std::memory_order_relaxed)) {
    const auto at = static_cast<std::size_t>(count.fetch_add(1));
    if (at < callers.size()) {
      callers[at] = {};
      backtrace(callers[at].data(), static_cast<int>(callers[at].size()));
    }
  }
  void* memory = nullptr;
  if (posix_memalign(&memory, alignment, bytes > 0 ? bytes : 1) != 0) throw std::bad_alloc();
  return memory;
}

}  // namespace

// Not inline: where both sides are seen at once, the compiler takes free() for a mistake.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  return counted(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}

namespace lockstep {

void start_counting_allocations() {
  count = 0;
  counting = true;
}

std::int64_t stop_counting_allocations() {
  counting = false;
  return count;
}

std::string allocating_places() {
  std::map<Callers, int> places;
  for (std::size_t i = 0; i < callers.size() && i < static_cast<std::size_t>(count); ++i) {
    ++places[callers[i]];
  }
  std::string text;
  for (const auto& [frames, times] : places) {
    text += std::to_string(times) + " times from\n";
    char** const names = backtrace_symbols(frames.data() + kInner, kShown);
    for (int i = 0; names != nullptr && i < kShown; ++i) {
      text += "    " + std::string(names[i]) + "\n";
    }
    std::free(names);
  }
  return text;
}

}  // namespace lockstep
