// A lock on a file that the kernel keeps: it goes with the process, however that ends.
#pragma once

#include <string>

namespace lockstep {

class FileLock {
 public:
  FileLock() = default;
  // Takes it if nobody has it; makes the file, which stays: removing it would let two in. A
  // DataError where the disk refuses.
  static FileLock take(const std::string& path);
  // The process that wrote its number there last; "" if none did.
  static std::string holder_of(const std::string& path);

  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  ~FileLock();

  bool held() const { return file_ >= 0; }

 private:
  int file_ = -1;
};

}  // namespace lockstep
