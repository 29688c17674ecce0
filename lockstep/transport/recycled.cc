#include "lockstep/transport/recycled.h"

#include <array>
#include <new>

namespace lockstep {
namespace {

constexpr std::size_t kBlock = 128;  // bytes; larger objects are not kept
constexpr std::size_t kMost = 256;   // blocks a thread keeps

// Outlives the list: what is freed when the thread has ended is not kept.
thread_local bool ended = false;

class Spare {
 public:
  ~Spare() {
    ended = true;
    while (count_ > 0) ::operator delete(blocks_[--count_]);
  }
  void* take() { return count_ > 0 ? blocks_[--count_] : nullptr; }
  bool keep(void* block) noexcept {
    if (count_ == kMost) return false;
    blocks_[count_++] = block;
    return true;
  }

 private:
  std::array<void*, kMost> blocks_;
  std::size_t count_ = 0;
};

thread_local Spare spare;

}  // namespace

void* Recycled::operator new(std::size_t bytes) {
  if (bytes > kBlock) return ::operator new(bytes);
  void* const block = ended ? nullptr : spare.take();
  return block != nullptr ? block : ::operator new(kBlock);
}

void Recycled::operator delete(void* memory, std::size_t bytes) noexcept {
  if (bytes > kBlock || ended || !spare.keep(memory)) ::operator delete(memory);
}

}  // namespace lockstep
