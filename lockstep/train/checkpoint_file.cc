#include "lockstep/train/checkpoint_file.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include "lockstep/base/error.h"
#include "lockstep/base/json_lines.h"

namespace lockstep {
namespace {

static_assert(std::endian::native == std::endian::little, "checkpoints are little-endian");

constexpr std::string_view kMagic = "LOCKSTEP";
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kFront = 8 + sizeof(std::uint32_t) + sizeof(std::uint64_t);
constexpr std::size_t kChecksum = sizeof(Sha256Digest);
constexpr int kDeepest = 8;  // JSON nested deeper than this is not ours

template <typename T>
T number_at(std::span<const std::byte> bytes, std::size_t at) {
  T value{};
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

Json to_json(const CheckpointIndex& index) {
  Json entries = Json::array();
  for (const CheckpointEntry& entry : index.entries) {
    entries.push_back({{"name", entry.name},
                       {"kind", kind_name(entry.kind)},
                       {"count", entry.count},
                       {"rank", entry.rank == kEveryRank ? Json("all") : Json(entry.rank)},
                       {"offset", entry.offset}});
  }
  const CheckpointMeta& meta = index.meta;
  return {{"step", meta.step},
          {"epoch", meta.epoch},
          {"workers", meta.workers},
          {"config", meta.config},
          {"entries", std::move(entries)}};
}

// Takes values out of the header; whatever is not as it should be is an error that names the file.
class HeaderReader {
 public:
  HeaderReader(const Json& json, const std::string& path) : json_(json), path_(path) {}

  const Json& at(const char* key) const {
    const auto found = json_.find(key);
    if (found == json_.end()) fail(fmt::format("its header has no \"{}\"", key));
    return *found;
  }
  std::string text(const char* key) const {
    if (!at(key).is_string()) fail(fmt::format("\"{}\" in its header is not a text", key));
    return at(key).get<std::string>();
  }
  std::uint64_t whole(const char* key, std::uint64_t most) const {
    // Whole numbers that are not negative are unsigned to the parser.
    if (!at(key).is_number_unsigned() || at(key).get<std::uint64_t>() > most) {
      fail(fmt::format("\"{}\" in its header is not a number from 0 to {}", key, most));
    }
    return at(key).get<std::uint64_t>();
  }
  double real(const char* key) const {
    if (!at(key).is_number()) fail(fmt::format("\"{}\" in its header is not a number", key));
    return at(key).get<double>();
  }
  [[noreturn]] void fail(const std::string& reason) const {
    throw DataError("{} is damaged: {}", path_, reason);
  }

 private:
  const Json& json_;
  const std::string& path_;
};

CheckpointEntry parse_entry(const Json& json, int workers, const std::string& path) {
  const HeaderReader reader(json, path);
  if (!json.is_object()) reader.fail("an entry in its header is not an object");
  const auto kind = kind_named(reader.text("kind"));
  if (!kind) reader.fail("an entry in its header is of no known kind");
  const auto most = std::numeric_limits<std::uint64_t>::max() / element_size(*kind);
  const bool all = reader.at("rank") == "all";
  CheckpointEntry entry{
      reader.text("name"), *kind, reader.whole("count", most),
      all ? kEveryRank
          : static_cast<int>(reader.whole("rank", static_cast<std::uint64_t>(workers) - 1)),
      reader.whole("offset", std::numeric_limits<std::uint64_t>::max())};
  const bool one = *kind == StateKind::kInteger || *kind == StateKind::kReal;
  if (one && entry.count != 1) reader.fail("a single number in its header counts as several");
  return entry;
}

}  // namespace

CheckpointIndex::Part CheckpointIndex::part(int rank) const {
  Part part;
  for (const CheckpointEntry& entry : entries) {
    if (entry.rank != rank) continue;
    if (part.size == 0) part.begin = entry.offset;
    part.size += entry.size();
  }
  return part;
}

std::vector<StateValue> CheckpointIndex::values(int rank,
                                                std::span<const std::byte> part_bytes) const {
  std::vector<StateValue> values;
  std::size_t at = 0;
  for (const CheckpointEntry& entry : entries) {
    if (entry.rank != rank) continue;
    values.push_back({entry.name, entry.kind, part_bytes.subspan(at, entry.size())});
    at += entry.size();
  }
  return values;
}

CheckpointWriter::CheckpointWriter(const std::string& path, CheckpointIndex index) : file_(path) {
  LOCKSTEP_CHECK(std::isfinite(index.meta.epoch) && index.meta.step >= 0, "no step or epoch");
  for (CheckpointEntry& entry : index.entries) {
    entry.offset = missing_;
    missing_ += entry.size();
  }
  const std::string header = to_json(index).dump(-1, ' ', false, Json::error_handler_t::replace);
  const std::uint64_t length = header.size();
  put(std::as_bytes(std::span(kMagic.data(), kMagic.size())));
  put(std::as_bytes(std::span(&kVersion, 1)));
  put(std::as_bytes(std::span(&length, 1)));
  put(std::as_bytes(std::span(header)));
}

void CheckpointWriter::put(std::span<const std::byte> bytes) {
  hash_.add(bytes);
  file_.append(bytes);
}

void CheckpointWriter::append(std::span<const std::byte> bytes) {
  LOCKSTEP_CHECK(bytes.size() <= missing_, "{} bytes more than the entries have", bytes.size());
  missing_ -= bytes.size();
  put(bytes);
}

void CheckpointWriter::commit() {
  LOCKSTEP_CHECK(missing_ == 0, "{} bytes of the entries are missing", missing_);
  file_.append(hash_.finish());
  file_.commit();
}

CheckpointIndex parse_checkpoint_header(const std::string& text, std::size_t payload_size,
                                        const std::string& path) {
  bool too_deep = false;
  const auto shallow = [&](int depth, Json::parse_event_t, Json&) {
    too_deep = too_deep || depth > kDeepest;
    return !too_deep;
  };
  const Json json = Json::parse(text, shallow, false);
  const HeaderReader reader(json, path);
  if (too_deep || !json.is_object()) reader.fail("its header is not a JSON object");
  CheckpointIndex index;
  index.meta.step =
      static_cast<std::int64_t>(reader.whole("step", std::numeric_limits<std::int64_t>::max()));
  index.meta.epoch = reader.real("epoch");
  index.meta.workers = static_cast<int>(reader.whole("workers", std::numeric_limits<int>::max()));
  if (index.meta.workers < 1) reader.fail("it says it is of no workers");
  index.meta.config = reader.text("config");
  if (!reader.at("entries").is_array()) reader.fail("its header has no list of entries");
  std::set<std::pair<std::string, int>> seen;
  std::size_t end = 0;
  int rank = kEveryRank;
  for (const Json& item : reader.at("entries")) {
    CheckpointEntry entry = parse_entry(item, index.meta.workers, path);
    if (entry.offset != end || entry.size() > payload_size - end || entry.rank < rank) {
      reader.fail(fmt::format("its value \"{}\" is not where it should be", entry.name));
    }
    if (!seen.emplace(entry.name, entry.rank).second) {
      reader.fail(fmt::format("it has two values \"{}\"", entry.name));
    }
    end += entry.size();
    rank = entry.rank;
    index.entries.push_back(std::move(entry));
  }
  if (end != payload_size) reader.fail("it has bytes that belong to no value");
  return index;
}

CheckpointContent parse_checkpoint(std::span<const std::byte> bytes, const std::string& path) {
  if (bytes.size() < kMagic.size() || std::memcmp(bytes.data(), kMagic.data(), 8) != 0) {
    throw DataError("{} is not a checkpoint of lockstep", path);
  }
  if (bytes.size() < kFront + kChecksum) throw DataError("{} is damaged: it is cut off", path);
  const auto body = bytes.first(bytes.size() - kChecksum);
  const auto checksum = bytes.last(kChecksum);
  if (!std::ranges::equal(sha256(body), checksum)) {
    throw DataError("{} is damaged: its checksum does not match its content", path);
  }
  if (const auto version = number_at<std::uint32_t>(bytes, 8); version != kVersion) {
    throw DataError("{} has version {} of the format; this program reads version {}", path, version,
                    kVersion);
  }
  const auto length = number_at<std::uint64_t>(bytes, 12);
  if (length > body.size() - kFront) {
    throw DataError("{} is damaged: its header is longer than the file", path);
  }
  CheckpointContent content;
  content.header.resize(length);
  std::memcpy(content.header.data(), body.data() + kFront, length);
  content.payload = body.subspan(kFront + length);
  content.index = parse_checkpoint_header(content.header, content.payload.size(), path);
  return content;
}

}  // namespace lockstep
