#include "lockstep/train/tensorboard.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "lockstep/base/error.h"
#include "lockstep/train/crc32c.h"

namespace lockstep {
namespace {

static_assert(std::endian::native == std::endian::little, "event files are little-endian");

constexpr std::string_view kPrefix = "events.out.tfevents.";

template <typename T>
std::string raw(T value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

// A message of Protocol Buffers: fields behind each other, each with its number and its kind.
class Message {
 public:
  Message& integer(int field, std::uint64_t value) {
    key(field, 0);
    varint(value);
    return *this;
  }
  Message& real(int field, double value) { return fixed(field, 1, raw(value)); }
  Message& real(int field, float value) { return fixed(field, 5, raw(value)); }
  Message& text(int field, std::string_view value) {
    key(field, 2);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  Message& fixed(int field, unsigned wire, const std::string& value) {
    key(field, wire);
    bytes_ += value;
    return *this;
  }
  void key(int field, unsigned wire) { varint(static_cast<unsigned>(field) << 3 | wire); }
  void varint(std::uint64_t value) {  // seven bits a byte, lowest first
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>((value & 0x7F) | 0x80);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

// A checksum of bytes that hold their own checksum is poor, so it is stored turned and shifted.
std::string masked_crc(std::string_view bytes) {
  return raw(std::rotr(crc32c(bytes), 15) + 0xA282EAD8u);
}

// The number behind the prefix: seconds, but always larger than that of any file before.
std::int64_t next_number(const std::string& folder, double wall_time) {
  auto number = static_cast<std::int64_t>(std::clamp(wall_time, 0.0, 1e10));
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    std::string name = it->path().filename().string();
    if (!name.starts_with(kPrefix)) continue;
    name.erase(0, kPrefix.size());
    std::int64_t other = 0;
    std::from_chars(name.data(), name.data() + std::min<std::size_t>(name.size(), 10), other);
    number = std::max(number, other + 1);
  }
  return number;
}

}  // namespace

EventWriter::EventWriter(const std::string& folder, double wall_time,
                         std::optional<std::int64_t> resumed_step) {
  LOCKSTEP_CHECK(std::isfinite(wall_time), "no time");
  path_ = (std::filesystem::path(folder) /
           fmt::format("{}{:010}.lockstep", kPrefix, next_number(folder, wall_time)))
              .string();
  file_.open(path_, std::ios::binary | std::ios::trunc);
  if (!file_) throw DataError("cannot write {}: {}", path_, std::strerror(errno));
  put_record(Message().real(1, wall_time).text(3, "brain.Event:2").bytes());
  if (!resumed_step) return;
  const auto next = static_cast<std::uint64_t>(*resumed_step + 1);
  put_record(Message()
                 .real(1, wall_time)
                 .integer(2, next)
                 .text(7, Message().integer(1, 1).bytes())
                 .bytes());
}

void EventWriter::write(std::int64_t step, double wall_time,
                        const std::vector<std::pair<std::string, double>>& scalars) {
  Message summary;
  for (const auto& [tag, value] : scalars) {
    summary.text(1, Message().text(1, tag).real(2, static_cast<float>(value)).bytes());
  }
  put_record(Message()
                 .real(1, wall_time)
                 .integer(2, static_cast<std::uint64_t>(step))
                 .text(5, summary.bytes())
                 .bytes());
}

void EventWriter::put_record(const std::string& event) {
  const std::string length = raw(std::uint64_t{event.size()});
  file_ << length + masked_crc(length) + event + masked_crc(event) << std::flush;
  if (!file_) throw DataError("cannot write {}: {}", path_, std::strerror(errno));
}

}  // namespace lockstep
