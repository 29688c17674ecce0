// The file of a checkpoint. All numbers little-endian:
//
//   8 bytes   "LOCKSTEP"
//   4 bytes   version (1)
//   8 bytes   length of the header
//   header    JSON: step, epoch, workers, config, and entries: a list of
//             {name, kind, count, rank, offset}, rank a number or "all"
//   payload   the entries one behind the other, in the order of the list: those of all ranks,
//             then those of rank 0, of rank 1, …
//   32 bytes  SHA-256 of everything before
//
// Nothing in a file is believed before it is checked: a file that was cut, changed or made up gives
// a DataError that says what is wrong, and never a large allocation or a read beyond its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lockstep/base/file.h"
#include "lockstep/base/sha256.h"
#include "lockstep/base/state_store.h"

namespace lockstep {

struct CheckpointMeta {
  std::int64_t step = 0;
  double epoch = 0;
  int workers = 1;
  std::string config;  // the resolved configuration, TOML
};

inline constexpr int kEveryRank = -1;

struct CheckpointEntry {
  std::string name;
  StateKind kind;
  std::size_t count;
  int rank;                // kEveryRank: one value for all
  std::size_t offset = 0;  // in the payload
  std::size_t size() const { return count * element_size(kind); }
};

struct CheckpointIndex {
  CheckpointMeta meta;
  std::vector<CheckpointEntry> entries;

  // The part of the payload that belongs to a rank, or to all.
  struct Part {
    std::size_t begin = 0, size = 0;
  };
  Part part(int rank) const;
  // The entries of that part, with their values taken from its bytes.
  std::vector<StateValue> values(int rank, std::span<const std::byte> part_bytes) const;
};

// Writes a checkpoint in one go: the entries are announced, then their bytes follow in that order.
class CheckpointWriter {
 public:
  // Sets the offsets. The entries come in the order of their ranks, those for all first.
  CheckpointWriter(const std::string& path, CheckpointIndex index);
  void append(std::span<const std::byte> bytes);
  void commit();  // only now is there a file of that name

 private:
  void put(std::span<const std::byte> bytes);

  AtomicFile file_;
  Sha256 hash_;
  std::size_t missing_ = 0;  // bytes of the payload still to come
};

struct CheckpointContent {
  std::string header;
  CheckpointIndex index;
  std::span<const std::byte> payload;  // in the bytes that were parsed
};
// `path` is for messages only.
CheckpointContent parse_checkpoint(std::span<const std::byte> bytes, const std::string& path);
// A header that was parsed before, elsewhere.
CheckpointIndex parse_checkpoint_header(const std::string& text, std::size_t payload_size,
                                        const std::string& path);

}  // namespace lockstep
