#include "lockstep/base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "lockstep/base/error.h"
#include "lockstep/base/text.h"

namespace lockstep {
namespace {

constexpr std::string_view kPartial = ".partial-";

class Descriptor {
 public:
  Descriptor(const std::string& path, int flags) : number_(::open(path.c_str(), flags)) {
    if (number_ < 0) throw DataError("cannot read {}: {}", path, std::strerror(errno));
  }
  ~Descriptor() { ::close(number_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

template <typename Content>
Content read_whole(const std::string& path, std::size_t limit) {
  // Without O_NONBLOCK a pipe would keep the opener waiting.
  const Descriptor file(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat facts {};
  if (::fstat(file.number(), &facts) != 0) {
    throw DataError("cannot read {}: {}", path, std::strerror(errno));
  }
  if (!S_ISREG(facts.st_mode)) throw DataError("cannot read {}: it is not a file", path);
  const auto size = static_cast<std::size_t>(facts.st_size);
  if (size > limit) {
    throw DataError("{} has {} bytes, more than the {} allowed here", path, size,
                    format_size(limit));
  }
  Content content(size, typename Content::value_type{});
  std::size_t at = 0;
  while (at < size) {
    const ssize_t got = ::read(file.number(), content.data() + at, size - at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw DataError("cannot read {}: {}", path, std::strerror(errno));
    if (got == 0) break;  // shortened meanwhile
    at += static_cast<std::size_t>(got);
  }
  content.resize(at);
  return content;
}

std::string folder_of(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? "." : folder.string();
}

}  // namespace

std::vector<std::byte> read_file(const std::string& path, std::size_t limit) {
  return read_whole<std::vector<std::byte>>(path, limit);
}

std::string read_text_file(const std::string& path, std::size_t limit) {
  return read_whole<std::string>(path, limit);
}

void make_directories(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw DataError("cannot make the directory {}: {}", path, error.message());
}

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
  static std::atomic<unsigned> count{0};  // writers of one process keep out of each other's way
  partial_ = fmt::format("{}{}{}-{}", path_, kPartial, ::getpid(), ++count);
  descriptor_ = ::open(partial_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail(errno);
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!partial_.empty()) ::unlink(partial_.c_str());
}

void AtomicFile::append(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(descriptor_, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) fail(errno);
    bytes = bytes.subspan(static_cast<std::size_t>(wrote));
  }
}

void AtomicFile::commit() {
  LOCKSTEP_CHECK(descriptor_ >= 0, "{} was committed already", path_);
  // The content must be on the disk before the name is, or a power cut leaves an empty file.
  if (::fsync(descriptor_) != 0) fail(errno);
  const int closed = ::close(descriptor_);
  descriptor_ = -1;
  if (closed != 0 || ::rename(partial_.c_str(), path_.c_str()) != 0) fail(errno);
  partial_.clear();
  const Descriptor folder(folder_of(path_), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  // Some file systems cannot sync a folder and say so; there is no more to be done there.
  if (::fsync(folder.number()) != 0 && errno != EINVAL) fail(errno);
}

void AtomicFile::fail(int error) const {
  throw DataError("cannot write {}: {}", path_, std::strerror(error));
}

void write_file(const std::string& path, std::span<const std::byte> bytes) {
  AtomicFile file(path);
  file.append(bytes);
  file.commit();
}

void write_file(const std::string& path, std::string_view text) {
  write_file(path, std::as_bytes(std::span(text.data(), text.size())));
}

bool is_partial_file(std::string_view name) {
  return name.find(kPartial) != std::string_view::npos;
}

}  // namespace lockstep
