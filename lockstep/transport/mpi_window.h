// Memory that several processes of one host have mapped.
//
// One process creates it and tells the others its address: a process and a file descriptor, which
// they open through /proc. There is no name in a file system, so nothing is left behind however the
// processes end; and making or dropping a window is nobody else's business, so neither can hang,
// as MPI_Win_allocate_shared and MPI_Win_free do when a rank has died.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace lockstep {

class MpiWindow {
 public:
  struct Address {
    std::int64_t process = 0;
    std::int64_t descriptor = -1;
    std::uint64_t bytes = 0;
  };

  // Zeroed, and aligned to a page. Throws a CommError when there is no memory.
  static std::shared_ptr<MpiWindow> create(std::size_t bytes);
  // Nothing when this process cannot: another user's, or another container's process.
  static std::shared_ptr<MpiWindow> open(const Address& address);
  // Of an open descriptor, which the window takes over.
  static std::shared_ptr<MpiWindow> adopt(int descriptor);

  ~MpiWindow();
  MpiWindow(const MpiWindow&) = delete;
  MpiWindow& operator=(const MpiWindow&) = delete;

  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  int descriptor() const { return descriptor_; }
  // Valid until seal(), which the creator calls when all others have opened it.
  Address address() const;
  void seal();

 private:
  MpiWindow(int descriptor, std::byte* data, std::size_t bytes)
      : descriptor_(descriptor), data_(data), bytes_(bytes) {}

  int descriptor_;
  std::byte* data_;
  std::size_t bytes_;
};

}  // namespace lockstep
