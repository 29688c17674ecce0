// Memory that starts on a cache line, large blocks of it each on another line of a page.
//
// On some CPUs a copy between buffers whose page offsets differ by 16 bytes, as large std::vectors
// do, runs at a tenth of the speed. And on some (Zen 3) a loop over several vectors at once runs at
// a sixth of it where they lie a multiple of 256 MB apart, as an allocator's large blocks may well
// do: the cache tells lines apart by a part of their address. See docs/architecture.md.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace lockstep {

inline constexpr std::size_t kAlignment = 64;

void* allocate_aligned(std::size_t bytes);
void free_aligned(void* memory, std::size_t bytes) noexcept;

template <typename T>
struct AlignedAllocator {
  using value_type = T;
  AlignedAllocator() = default;
  template <typename U>
  AlignedAllocator(const AlignedAllocator<U>&) {}

  T* allocate(std::size_t count) {
    if (count > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(allocate_aligned(count * sizeof(T)));
  }
  void deallocate(T* pointer, std::size_t count) { free_aligned(pointer, count * sizeof(T)); }
  template <typename U>
  bool operator==(const AlignedAllocator<U>&) const {
    return true;
  }
};

template <typename T>
using AlignedVector = std::vector<T, AlignedAllocator<T>>;

}  // namespace lockstep
