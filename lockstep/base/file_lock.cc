#include "lockstep/base/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "lockstep/base/error.h"
#include "lockstep/base/file.h"
#include "lockstep/base/text.h"

namespace lockstep {

FileLock FileLock::take(const std::string& path) {
  FileLock lock;
  lock.file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (!lock.held()) throw DataError("cannot write {}: {}", path, std::strerror(errno));
  if (::flock(lock.file_, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) throw DataError("cannot lock {}: {}", path, std::strerror(errno));
    return {};
  }
  // For messages only; the lock itself is the kernel's.
  const std::string owner = fmt::format("{}\n", ::getpid());
  if (::ftruncate(lock.file_, 0) != 0 ||
      ::pwrite(lock.file_, owner.data(), owner.size(), 0) != static_cast<ssize_t>(owner.size())) {
    throw DataError("cannot write {}: {}", path, std::strerror(errno));
  }
  return lock;
}

std::string FileLock::holder_of(const std::string& path) {
  try {
    return trim(read_text_file(path, 100));
  } catch (const DataError&) {
    return {};
  }
}

FileLock::FileLock(FileLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(file_, other.file_);
  return *this;
}

FileLock::~FileLock() {
  if (held()) ::close(file_);  // which unlocks
}

}  // namespace lockstep
