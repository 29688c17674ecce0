#include "lockstep/model/zip_check.h"

#include <zlib.h>

#include <array>
#include <climits>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "lockstep/base/error.h"

namespace lockstep {
namespace {

// Where the fields of an archive's records stand (PKWARE's APPNOTE.TXT, 4.3).
constexpr std::uint32_t kEndMark = 0x06054b50, kEntryMark = 0x02014b50, kLocalMark = 0x04034b50;
constexpr std::uint32_t kEnd64Mark = 0x06064b50;
constexpr std::size_t kEndSize = 22, kEntrySize = 46, kLocalSize = 30, kEnd64Size = 56;
constexpr std::size_t kLongestComment = 65535;
constexpr std::uint64_t kStored = 0, kDeflated = 8;  // methods of packing
constexpr std::uint32_t kIn64 = 0xffffffff;          // the true value stands in an extra field

struct Content {
  std::uint64_t size = 0;
  unsigned long checksum = 0;
  bool operator==(const Content&) const = default;
};

Content stored(std::string_view bytes) {
  return {bytes.size(), crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size())};
}

// Unpacks piece by piece and keeps nothing: what the archive says of sizes may be wrong. Content
// beyond `most` bytes is not looked at.
Content deflated(std::string_view bytes, std::uint64_t most) {
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  Content content;
  std::array<Bytef, 65536> piece;
  int status = Z_OK;
  while (status == Z_OK && content.size <= most) {
    stream.next_out = piece.data();
    stream.avail_out = piece.size();
    status = inflate(&stream, Z_NO_FLUSH);
    const std::size_t count = piece.size() - stream.avail_out;
    content.checksum = crc32_z(content.checksum, piece.data(), count);
    content.size += count;
  }
  inflateEnd(&stream);
  return content;
}

class Archive {
 public:
  Archive(const std::string& path, std::string_view bytes) : path_(path), bytes_(bytes) {}

  void check() const {
    const auto [first, entries] = directory();
    std::size_t at = first;
    for (std::uint64_t i = 0; i < entries; ++i) at = check_entry(at);
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    throw DataError("{} is damaged or no file of torch: {}", path_, what);
  }

  std::uint64_t number(std::uint64_t at, std::size_t width) const {
    if (at > bytes_.size() || bytes_.size() - at < width) fail("it ends too early");
    std::uint64_t value = 0;
    for (std::size_t i = width; i > 0; --i) {
      value = value << 8 | static_cast<unsigned char>(bytes_[at + i - 1]);
    }
    return value;
  }
  std::string_view slice(std::uint64_t at, std::uint64_t size) const {
    if (at > bytes_.size() || bytes_.size() - at < size) fail("an entry reaches beyond its end");
    return bytes_.substr(at, size);
  }

  struct Directory {
    std::uint64_t first, entries;
  };
  Directory directory() const {
    if (bytes_.size() < kEndSize) fail("it is too short");
    const std::size_t last = bytes_.size() - kEndSize;
    const std::size_t earliest = last > kLongestComment ? last - kLongestComment : 0;
    for (std::size_t at = last + 1; at > earliest; --at) {
      if (number(at - 1, 4) != kEndMark) continue;
      const std::size_t end = at - 1;
      // Torch writes the 64-bit form of the record too, just before: 20 bytes point to it.
      if (end >= kEnd64Size + 20 && number(end - 20 - kEnd64Size, 4) == kEnd64Mark) {
        const std::size_t end64 = end - 20 - kEnd64Size;
        return {number(end64 + 48, 8), number(end64 + 32, 8)};
      }
      return {number(end + 16, 4), number(end + 10, 2)};
    }
    fail("it has no table of contents (cut short?)");
  }

  // Gives the place of the next entry.
  std::size_t check_entry(std::uint64_t at) const {
    if (number(at, 4) != kEntryMark) fail("its table of contents is damaged");
    const auto name_size = number(at + 28, 2), extra_size = number(at + 30, 2);
    const auto name = slice(at + kEntrySize, name_size);
    std::uint64_t size = number(at + 24, 4), packed = number(at + 20, 4);
    std::uint64_t local = number(at + 42, 4);
    widen(at + kEntrySize + name_size, extra_size, {&size, &packed, &local});
    if (number(local, 4) != kLocalMark) fail("an entry is not where it should be");
    const auto data = local + kLocalSize + number(local + 26, 2) + number(local + 28, 2);
    if (slice(local + kLocalSize, number(local + 26, 2)) != name) fail("an entry has two names");
    const auto bytes = slice(data, packed);
    const auto method = number(at + 10, 2);
    if (method != kStored && method != kDeflated) fail("an entry is packed in an unknown way");
    if (bytes.size() > UINT_MAX && method == kDeflated) fail("a packed entry is too large");
    const auto content = method == kStored ? stored(bytes) : deflated(bytes, size);
    if (content != Content{size, number(at + 16, 4)}) fail("the checksum of an entry is wrong");
    return at + kEntrySize + name_size + extra_size + number(at + 32, 2);
  }

  // The extra field 1 holds, in this order, those of the values that need 64 bits.
  void widen(std::uint64_t at, std::uint64_t size, std::array<std::uint64_t*, 3> values) const {
    const auto end = at + size;
    while (at + 4 <= end && number(at, 2) != 1) at += 4 + number(at + 2, 2);
    at += 4;
    for (auto* value : values) {
      if (*value != kIn64) continue;
      if (at + 8 > end) fail("an entry has no size");
      *value = number(at, 8);
      at += 8;
    }
  }

  const std::string& path_;
  std::string_view bytes_;
};

}  // namespace

void check_zip(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  std::string bytes(error ? 0 : size, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (error || !file) throw DataError("{}: cannot be read", path);
  Archive(path, bytes).check();
}

}  // namespace lockstep
