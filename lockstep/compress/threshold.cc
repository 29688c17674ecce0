// Threshold quantisation (Strom 2015): values beyond ±t are sent as ±t; what they had more, and all
// that is smaller, stays in the residual. t may be given, or be a multiple of the root mean square
// of what is to be sent, which suits any model and follows the gradients as they shrink.
//
//   t, how many, gap and sign of each (varint 2·gap + sign)
#include <algorithm>
#include <cmath>

#include "lockstep/compress/kernels.h"
#include "lockstep/compress/on_runs.h"
#include "lockstep/compress/places.h"

namespace lockstep {
namespace {

class Threshold : public OnRuns {
 public:
  Threshold(double fixed, double relative)
      : fixed_(static_cast<float>(fixed)), relative_(relative) {}

  void encode(std::span<const float> values, const Moment&, Bytes& out) override {
    const float t = fixed_ > 0 ? fixed_ : relative_threshold(values);
    places_.clear();
    for (const Run& run : runs()) find_above(values, run, t, places_);
    out.put(t);
    put_varint(out, places_.size());
    const std::size_t room = places_.size() * kLongestVarint;
    std::byte* const begin = out.extend(room);
    std::byte* to = begin;
    std::uint64_t next = 0;
    for (const std::uint32_t place : places_) {
      if (!std::isfinite(values[place])) refuse_non_finite(values, layers());
      to = write_varint(to, 2 * (place - next) + (values[place] < 0 ? 1 : 0));
      next = place + 1;
    }
    out.shrink(out.size() - room + static_cast<std::size_t>(to - begin));
  }

  void add(BytesView message, float scale, std::span<float> sum) const override {
    BytesReader reader(message);
    const auto t = reader.get<float>();
    const std::uint64_t count = get_varint(reader);
    if (!(t >= 0) || !std::isfinite(t) || count > reader.left()) {
      throw CommError("a threshold message of {} bytes sends {} times {}", message.size(), count,
                      t);
    }
    const float value = scale * t;
    PlaceReader places(reader, runs());
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t code = get_varint(reader);
      sum[places.after(code / 2)] += code % 2 == 0 ? value : -value;
    }
    reader.end();
  }

  bool biased() const override { return true; }
  double expected_bytes(const Moment&) const override {
    constexpr double kShare = 0.003;  // of normal values beyond three deviations
    return 6 + kShare * 2 * static_cast<double>(size());
  }
  Speed speed() const override { return {6e9, 40e9}; }

 private:
  float relative_threshold(std::span<const float> values) const {
    double squares = 0;
    for (const Run& run : runs()) {
      const SquareSum sum = compress_kernels().squares(values.data() + run.begin, run.size);
      check_finite(sum.largest, values);
      squares += sum.squares;
    }
    if (size() == 0) return 0;
    return static_cast<float>(relative_ * std::sqrt(squares / static_cast<double>(size())));
  }

  float fixed_;
  double relative_;
  Places places_;
};

OptionSet threshold_options() {
  OptionSet options;
  options.real("threshold", 0, "t, beyond which a value is sent; 0: by `relative`").at_least(0);
  options
      .real("relative", 3, "t as a multiple of the root mean square of the values to be sent")
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
