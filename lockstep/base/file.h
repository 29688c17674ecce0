// Whole files: reading with a limit, and writing so that a reader finds the old content or the new
// one, never a part of it, whatever happens in between: a full disk, a kill, a power cut.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

// DataError if it cannot be read, is no regular file or is longer than `limit` bytes.
std::vector<std::byte> read_file(const std::string& path, std::size_t limit);
std::string read_text_file(const std::string& path, std::size_t limit);

// With all above it. DataError if it cannot be made.
void make_directories(const std::string& path);

// A file under way: it takes the place of `path` at commit() and not before. Until then the bytes
// are in a file beside it, which goes when this does.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);  // DataError here and below if the disk refuses
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void append(std::span<const std::byte> bytes);
  void commit();

 private:
  [[noreturn]] void fail(int error) const;

  std::string path_;
  std::string partial_;
  int descriptor_ = -1;
};

void write_file(const std::string& path, std::span<const std::byte> bytes);
void write_file(const std::string& path, std::string_view text);

// Is this what a killed writer left of a file, by its name?
bool is_partial_file(std::string_view name);

}  // namespace lockstep
