// Memory that starts on a cache line. On some CPUs a copy between buffers whose page offsets differ
// by 16 bytes, as large std::vectors do, runs at a tenth of the speed; see docs/architecture.md.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace lockstep {

inline constexpr std::size_t kAlignment = 64;

template <typename T>
struct AlignedAllocator {
  using value_type = T;
  AlignedAllocator() = default;
  template <typename U>
  AlignedAllocator(const AlignedAllocator<U>&) {}

  T* allocate(std::size_t count) {
    if (count > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(::operator new(count * sizeof(T), std::align_val_t(kAlignment)));
  }
  void deallocate(T* pointer, std::size_t) {
    ::operator delete(pointer, std::align_val_t(kAlignment));
  }
  template <typename U>
  bool operator==(const AlignedAllocator<U>&) const {
    return true;
  }
};

template <typename T>
using AlignedVector = std::vector<T, AlignedAllocator<T>>;

}  // namespace lockstep
