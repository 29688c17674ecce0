#include "lockstep/transport/mpi_window.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "lockstep/base/error.h"

namespace lockstep {
namespace {

constexpr char kName[] = "lockstep-window";

std::size_t whole_pages(std::size_t bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

// In another container the same number may be somebody else's process or file.
bool is_window(const std::string& path) {
  char target[128];
  const ssize_t length = readlink(path.c_str(), target, sizeof target);
  return length > 0 && std::string_view(target, static_cast<std::size_t>(length)).find(kName) !=
                           std::string_view::npos;
}

}  // namespace

std::shared_ptr<MpiWindow> MpiWindow::create(std::size_t bytes) {
  const int descriptor = memfd_create(kName, MFD_CLOEXEC);
  if (descriptor < 0 || ftruncate(descriptor, static_cast<off_t>(whole_pages(bytes))) != 0) {
    const int error = errno;
    if (descriptor >= 0) close(descriptor);
    throw CommError("cannot make {} bytes of shared memory: {}", bytes, std::strerror(error));
  }
  auto window = adopt(descriptor);
  if (!window) {
    throw CommError("cannot map {} bytes of shared memory: {}", bytes, std::strerror(errno));
  }
  return window;
}

std::shared_ptr<MpiWindow> MpiWindow::open(const Address& address) {
  const std::string path = fmt::format("/proc/{}/fd/{}", address.process, address.descriptor);
  if (!is_window(path)) return nullptr;
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return nullptr;
  auto window = adopt(descriptor);
  return window && window->bytes() == address.bytes ? window : nullptr;
}

std::shared_ptr<MpiWindow> MpiWindow::adopt(int descriptor) {
  struct stat status {};
  if (fstat(descriptor, &status) == 0 && status.st_size > 0) {
    const auto bytes = static_cast<std::size_t>(status.st_size);
    void* const data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (data != MAP_FAILED) {
      return std::shared_ptr<MpiWindow>(
          new MpiWindow(descriptor, static_cast<std::byte*>(data), bytes));
    }
  }
  const int error = errno;
  close(descriptor);
  errno = error;
  return nullptr;
}

MpiWindow::~MpiWindow() {
  munmap(data_, bytes_);
  seal();
}

MpiWindow::Address MpiWindow::address() const {
  return {getpid(), descriptor_, bytes_};
}

void MpiWindow::seal() {
  if (descriptor_ >= 0) close(descriptor_);
  descriptor_ = -1;
}

}  // namespace lockstep
