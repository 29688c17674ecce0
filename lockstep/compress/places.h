// Places of a vector, ascending, as they stand in a message: the gap from each to the next in as
// few bytes as it needs. And how to find them: all values above a threshold.
#pragma once

#include <span>
#include <vector>

#include "lockstep/compress/compressor.h"

namespace lockstep {

using Places = std::vector<std::uint32_t>;

// Appends the places of values in the run with |v| > threshold. NaN counts as above.
void find_above(std::span<const float> values, const Range& run, float threshold, Places& places);

// How many, and of each place a number made of the gap before it: code(place, gap).
template <typename Code>
void put_gaps(std::span<const std::uint32_t> places, Bytes& out, const Code& code) {
  put_varint(out, places.size());
  const std::size_t room = places.size() * kLongestVarint;
  std::byte* const begin = out.extend(room);
  std::byte* to = begin;
  std::uint64_t next = 0;
  for (const std::uint32_t place : places) {
    to = write_varint(to, code(place, place - next));
    next = std::uint64_t{place} + 1;
  }
  out.shrink(out.size() - room + static_cast<std::size_t>(to - begin));
}
// The gaps themselves, and behind them the values of the places.
void put_placed(std::span<const float> values, std::span<const std::uint32_t> places, Bytes& out);
// The values of the places alone.
void put_values(std::span<const float> values, std::span<const std::uint32_t> places, Bytes& out);

// Reads them one by one. A CommError for one that is not behind the last or not in the runs.
class PlaceReader {
 public:
  PlaceReader(BytesReader& reader, std::span<const Range> runs) : reader_(reader), runs_(runs) {}
  std::size_t next() { return after(get_varint(reader_)); }
  std::size_t after(std::uint64_t gap) {
    if (gap > kFurthest) refuse();
    place_ += gap;
    while (!runs_.empty() && place_ >= runs_.front().end()) runs_ = runs_.subspan(1);
    if (runs_.empty() || place_ < runs_.front().begin) refuse();
    return place_++;
  }

 private:
  static constexpr std::uint64_t kFurthest = std::uint64_t{1} << 40;
  [[noreturn]] void refuse() const;

  BytesReader& reader_;
  std::span<const Range> runs_;
  std::size_t place_ = 0;  // the least that may come next
};

// Of a message that is put_placed(): how many there are, which the reader is
// then at the first of, and the floats.
struct PlacedValues {
  std::size_t count = 0;
  BytesView values;
  float value(std::size_t i) const {
    float number = 0;
    std::memcpy(&number, values.data() + i * sizeof number, sizeof number);
    return number;
  }
};
PlacedValues read_placed(BytesReader& reader);

}  // namespace lockstep
