// Exact zeros are left out: lossless. It pays where whole units are silent (ReLU, embeddings) or
// another worker's topk has made a vector sparse. Where that is longer, floats go as they are.
//
//   form (1 byte: 0 all values, 1 places and values, 2 a bit a value and the values)
#include <algorithm>
#include <bit>
#include <cmath>

#include "lockstep/compress/kernels.h"
#include "lockstep/compress/on_runs.h"
#include "lockstep/compress/places.h"

namespace lockstep {
namespace {

enum Form : std::uint8_t { kAll, kPlaces, kBits };

class NonZero : public OnRuns {
 public:
  void encode(std::span<const float> values, const Moment&, Bytes& out) override {
    if (mostly_nonzero(values)) {
      out.put(static_cast<std::uint8_t>(kAll));
      for (const Range& run : runs()) {
        const float* const from = values.data() + run.begin;
        check_finite(compress_kernels().largest(from, run.size), values);
        std::memcpy(out.extend(run.size * sizeof(float)), from, run.size * sizeof(float));
      }
      return;
    }
    places_.clear();
    for (const Range& run : runs()) find_above(values, run, 0, places_);
    for (const std::uint32_t place : places_) {
      if (!std::isfinite(values[place])) refuse_non_finite(values, layers());
    }
    const std::size_t begin = out.size(), k = places_.size();
    const std::size_t bits = (size() + 7) / 8 + k * sizeof(float);
    out.put(static_cast<std::uint8_t>(kPlaces));
    if (k + k * sizeof(float) < bits) {
      put_placed(values, places_, out);
      if (out.size() - begin <= bits) return;
      out.shrink(begin + 1);
    }
    *out.at(begin) = static_cast<std::byte>(kBits);
    put_bits(out);
    put_values(values, places_, out);
  }

  void add(BytesView message, float scale, std::span<float> sum) const override {
    BytesReader reader(message);
    const auto form = reader.get<std::uint8_t>();
    if (form == kPlaces) {
      const PlacedValues placed = read_placed(reader);
      PlaceReader places(reader, runs());
      for (std::size_t i = 0; i < placed.count; ++i) sum[places.next()] += scale * placed.value(i);
    } else if (form == kBits) {
      const BytesView bits = reader.take((size() + 7) / 8);
      std::size_t at = 0;
      over_places([&](std::size_t place) {
        const bool sent = (static_cast<unsigned>(bits[at / 8]) >> (at % 8) & 1) != 0;
        if (sent) sum[place] += scale * reader.get<float>();
        ++at;
      });
    } else if (form == kAll) {
      over_places([&](std::size_t place) { sum[place] += scale * reader.get<float>(); });
    } else {
      throw CommError("a nonzero message is of form {}, which is not known", form);
    }
    reader.end();
  }

  bool biased() const override { return false; }
  bool lossless() const override { return true; }
  bool nearly_exact() const override { return true; }
  double expected_bytes(const Moment&) const override {
    return static_cast<double>(size() * sizeof(float));  // unknown: depends on the gradients
  }
  Speed speed() const override { return {2e9, 2e9}; }

 private:
  template <typename Body>
  void over_places(const Body& body) const {
    for (const Range& run : runs()) {
      for (std::size_t place = run.begin; place < run.end(); ++place) body(place);
    }
  }
  // So many that even a bit for each value is too much to say which are.
  bool mostly_nonzero(std::span<const float> values) const {
    std::size_t zeros = 0;
    for (const Range& run : runs()) {
      for (const float value : values.subspan(run.begin, run.size)) zeros += value == 0;
    }
    return zeros * sizeof(float) <= (size() + 7) / 8;
  }
  void put_bits(Bytes& out) const {
    const std::size_t bytes = (size() + 7) / 8;
    std::byte* const bits = out.extend(bytes);
    std::fill_n(bits, bytes, std::byte{0});
    std::size_t before = 0, run = 0;  // values in earlier runs
    for (const std::uint32_t place : places_) {
      for (; place >= runs()[run].end(); ++run) before += runs()[run].size;
      const std::size_t at = before + place - runs()[run].begin;
      bits[at / 8] |= static_cast<std::byte>(1u << (at % 8));
    }
  }

  Places places_;
};

const Registration<Compressor> kNonZero{
    "nonzero", "Exact zeros are left out; lossless.", {}, [](const Options&) {
      return std::make_unique<NonZero>();
    }};

}  // namespace
}  // namespace lockstep
