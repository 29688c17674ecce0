// Memory of the small objects that come and go with every message. A thread keeps what it frees and
// takes from there, so that steps of training ask the allocator for nothing.
#pragma once

#include <cstddef>

namespace lockstep {

// Derive from this; objects may be freed by another thread than the one that made them.
class Recycled {
 public:
  static void* operator new(std::size_t bytes);
  static void operator delete(void* memory, std::size_t bytes) noexcept;
};

}  // namespace lockstep
