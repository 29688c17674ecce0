#include "lockstep/compress/places.h"

#include <algorithm>

#include "lockstep/compress/kernels.h"

namespace lockstep {

void find_above(std::span<const float> values, const Range& run, float threshold, Places& places) {
  constexpr std::size_t kMore = 8;  // what select() may write beyond what it was asked for
  const CompressKernels& kernels = compress_kernels();
  for (std::size_t at = run.begin; at < run.end();) {
    const std::size_t had = places.size();
    const std::size_t most = std::max<std::size_t>(4096, had);
    places.resize(had + most + kMore);
    std::size_t looked_at = run.end() - at;
    const std::size_t found =
        kernels.select(values.data() + at, looked_at, threshold, static_cast<std::uint32_t>(at),
                       places.data() + had, most);
    places.resize(had + found);
    at += looked_at;
  }
}

void put_placed(std::span<const float> values, std::span<const std::uint32_t> places, Bytes& out) {
  put_gaps(places, out, [](std::uint32_t, std::uint64_t gap) { return gap; });
  put_values(values, places, out);
}

void put_values(std::span<const float> values, std::span<const std::uint32_t> places, Bytes& out) {
  std::byte* to = out.extend(places.size() * sizeof(float));
  for (const std::uint32_t place : places) {
    std::memcpy(to, &values[place], sizeof(float));
    to += sizeof(float);
  }
}

void PlaceReader::refuse() const {
  throw CommError("a compressed message names place {} or one behind it, which is not its to send",
                  place_);
}

PlacedValues read_placed(BytesReader& reader) {
  PlacedValues placed;
  const std::uint64_t count = get_varint(reader);
  if (count > reader.left() / sizeof(float)) {
    throw CommError("a compressed message of {} bytes cannot hold {} values", reader.left(), count);
  }
  placed.count = count;
  BytesReader both = reader;
  const BytesView places = both.take(both.left() - count * sizeof(float));
  placed.values = both.take(count * sizeof(float));
  reader = BytesReader(places);
  return placed;
}

}  // namespace lockstep
