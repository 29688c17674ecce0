// Threshold quantisation (Strom 2015): values beyond ±t are sent as ±t; what they had more, and all
// that is smaller, stays in the residual. t may be given, or begin as a multiple of the root mean
// square of the first message's values and then follow them slowly, so that neither hardly any nor
// most of them are sent.
//
// Where many are sent, two bits of each value are shorter than the places of those.
//
//   t, form (1 byte)
//   form 0: how many, gap and sign of each (varint 2·gap + sign)
//   form 1: run by run a bit of each value, is it > t, and another one, is it < −t
#include <algorithm>
#include <cmath>

#include "lockstep/compress/kernels.h"
#include "lockstep/compress/on_runs.h"
#include "lockstep/compress/places.h"

namespace lockstep {
namespace {

class Threshold : public OnRuns {
 public:
  Threshold(double fixed, double relative) : t_(fixed), relative_(relative), follows_(fixed == 0) {}

  void encode(std::span<const float> values, const Moment&, Bytes& out) override {
    if (t_ == 0) t_ = relative_threshold(values);
    const auto t = static_cast<float>(t_);
    out.put(t);
    const std::size_t form = out.size();
    out.put(static_cast<std::uint8_t>(kBits));
    const std::size_t count = put_bits(values, t, out);
    if (follows_) follow(count);
    // A byte or two each: where that is shorter, places take the bits' place.
    const bool sparse = 2 * count < out.size() - form;
    if (sparse) {
      out.shrink(form);
      out.put(static_cast<std::uint8_t>(kPlaces));
      put_places_of(values, t, out);
    }
  }

  void add(BytesView message, float scale, std::span<float> sum) const override {
    BytesReader reader(message);
    const auto t = reader.get<float>();
    const auto form = reader.get<std::uint8_t>();
    if (!(t >= 0) || !std::isfinite(t) || form > kBits) {
      throw CommError("a threshold message of {} bytes, t {} and form {}", message.size(), t, form);
    }
    const float value = scale * t;
    if (form == kBits) {
      for (const Range& run : runs()) {
        const std::size_t bytes = (run.size + 7) / 8;
        const BytesView above = reader.take(bytes), below = reader.take(bytes);
        compress_kernels().add_beyond(above.data(), below.data(), run.size, value,
                                      sum.data() + run.begin);
      }
    } else {
      const std::uint64_t count = get_varint(reader);
      if (count > reader.left()) throw CommError("a threshold message sends {} values", count);
      PlaceReader places(reader, runs());
      for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t code = get_varint(reader);
        sum[places.after(code / 2)] += code % 2 == 0 ? value : -value;
      }
    }
    reader.end();
  }

  bool biased() const override { return true; }
  double expected_bytes(const Moment&) const override {
    constexpr double kShare = 0.32;  // of normal values beyond one deviation
    return 6 + std::min(0.25, 2 * kShare) * static_cast<double>(size());
  }
  Speed speed() const override { return {6e9, 40e9}; }
  void state(StateVisitor& visitor) override { visitor.real("t", t_); }

 private:
  enum Form : std::uint8_t { kPlaces, kBits };

  void follow(std::size_t sent) {
    constexpr double kFew = 0.02, kMany = 0.5, kStep = 1.25;
    const double share =
        static_cast<double>(sent) / static_cast<double>(std::max<std::size_t>(1, size()));
    if (share > kMany) t_ *= kStep;
    if (share < kFew) t_ /= kStep;
  }

  std::size_t put_bits(std::span<const float> values, float t, Bytes& out) const {
    std::size_t count = 0;
    std::uint32_t largest = 0;
    for (const Range& run : runs()) {
      const std::size_t bytes = (run.size + 7) / 8;
      std::byte* const above = out.extend(2 * bytes);
      const float* const from = values.data() + run.begin;
      const Beyond beyond = compress_kernels().pack_beyond(from, run.size, t, above, above + bytes);
      count += beyond.count;
      largest = std::max(largest, beyond.largest);
    }
    check_finite(largest, values);
    return count;
  }

  void put_places_of(std::span<const float> values, float t, Bytes& out) {
    places_.clear();
    for (const Range& run : runs()) find_above(values, run, t, places_);
    put_gaps(places_, out, [&](std::uint32_t place, std::uint64_t gap) {
      return 2 * gap + (values[place] < 0 ? 1 : 0);
    });
  }

  double relative_threshold(std::span<const float> values) const {
    double squares = 0;
    for (const Range& run : runs()) {
      const SquareSum sum = compress_kernels().squares(values.data() + run.begin, run.size);
      check_finite(sum.largest, values);
      squares += sum.squares;
    }
    if (size() == 0) return 0;
    return relative_ * std::sqrt(squares / static_cast<double>(size()));
  }

  double t_;  // 0: not known yet
  double relative_;
  bool follows_;  // does t follow the values?
  Places places_;
};

OptionSet threshold_options() {
  OptionSet options;
  options.real("threshold", 0, "t, beyond which a value is sent; 0: by `relative`").at_least(0);
  options
      .real("relative", 1, "t of the first message as a multiple of its values' root mean square")
      .above(0);
  return options;
}

const Registration<Compressor> kThreshold{
    "threshold", "Values beyond ±t are sent as ±t; the rest waits.", threshold_options(),
    [](const Options& options) {
      return std::make_unique<Threshold>(options.real("threshold"), options.real("relative"));
    }};

}  // namespace
}  // namespace lockstep
