// QSGD (Alistarh et al. 2017): every value is rounded at random to one of s levels of its bucket's
// 2-norm, up or down such that the expectation is the value itself,
//
//   q = ‖g‖ · sgn(g_i) · ξ,   ξ = (l+1)/s with probability s|g_i|/‖g‖ − l, else l/s
//
// which is l = ⌊s|g_i|/‖g‖ + u⌋ with u uniform in [0, 1). Unbiased, so errors need not be fed back:
// they average out over workers and steps. With small s most levels are 0; what is not is sent as
// Elias codes of gap and level and a sign. With large s a fixed number of bits a value is shorter.
// The message takes whichever is smaller.
//
//   form (1 byte: 0 fixed, 1 Elias), norms (a float a bucket), levels
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

#include "lockstep/base/aligned.h"
#include "lockstep/compress/kernels.h"
#include "lockstep/compress/level_codes.h"
#include "lockstep/compress/on_runs.h"

namespace lockstep {
namespace {

enum Form : std::uint8_t { kFixed, kElias };

constexpr std::size_t round_up(std::size_t n) {
  return (n + 7) / 8 * 8;
}

class Qsgd : public OnRuns {
 public:
  Qsgd(int levels, std::size_t bucket)
      : s_(levels),
        bucket_(bucket),
        bits_(std::bit_width(static_cast<unsigned>(2 * levels))),
        codes_(levels) {}

  void prepare(std::span<const Layer> layers) override {
    OnRuns::prepare(layers);
    buckets_.clear();
    padded_ = 0;
    for (const Range& run : runs()) {
      for (std::size_t at = 0; at < run.size; at += bucket_) {
        const std::size_t size = std::min(bucket_, run.size - at);
        buckets_.push_back({run.begin + at, size});
        padded_ += round_up(size);
      }
    }
  }

  void encode(std::span<const float> values, const Moment& moment, Bytes& out) override {
    const CompressKernels& kernels = compress_kernels();
    const std::size_t form = out.size();
    out.put(static_cast<std::uint8_t>(kFixed));
    const std::size_t norms = out.size();
    out.extend(buckets_.size() * sizeof(float));
    levels_.resize(padded_);
    std::int8_t* level = levels_.data();
    std::uint32_t largest = 0;
    for (std::size_t b = 0; b < buckets_.size(); ++b) {
      const Range& bucket = buckets_[b];
      const float* const from = values.data() + bucket.begin;
      const SquareSum sum = kernels.squares(from, bucket.size);
      largest = std::max(largest, sum.largest);
      const auto norm = static_cast<float>(
          std::min<double>(std::sqrt(sum.squares), std::numeric_limits<float>::max()));
      std::memcpy(out.at(norms + b * sizeof norm), &norm, sizeof norm);
      if (norm > 0) {
        kernels.quantise(from, bucket.size, norm, s_, mixed(moment.key, bucket.begin), level);
      } else {
        std::fill_n(level, bucket.size, std::int8_t{0});
      }
      std::fill(level + bucket.size, level + round_up(bucket.size), std::int8_t{0});
      level += round_up(bucket.size);
    }
    check_finite(largest, values);
    if (codes_.put(levels_, fixed_bytes(), out)) {
      *out.at(form) = static_cast<std::byte>(kElias);
    } else {
      std::byte* const packed = out.extend(fixed_bytes());
      kernels.pack_levels(levels_.data(), padded_, s_, bits_, packed);
    }
  }

  void add(BytesView message, float scale, std::span<float> sum) const override {
    BytesReader reader(message);
    const auto form = reader.get<std::uint8_t>();
    const Norms norms{reader.take(buckets_.size() * sizeof(float)), scale / static_cast<float>(s_)};
    for (std::size_t b = 0; b < buckets_.size(); ++b) {
      if (!std::isfinite(norms.sent(b))) {
        throw CommError("a qsgd message has a norm that is not finite");
      }
    }
    if (form == kElias) {
      add_elias(reader.take(reader.left()), norms, sum);
    } else if (form == kFixed) {
      add_fixed(reader, norms, sum);
      reader.end();
    } else {
      throw CommError("a qsgd message is of form {}, which is not known", form);
    }
  }

  bool biased() const override { return false; }
  double expected_bytes(const Moment&) const override {
    // Of a bucket of n normal values, s√(2n/π) levels are not 0, if s is small against √n.
    double bytes = 1;
    for (const Range& bucket : buckets_) {
      const auto n = static_cast<double>(bucket.size);
      const double some = std::min(n, s_ * std::sqrt(n * 2 / std::numbers::pi));
      const double elias = some * (4 + 2 * std::log2(n / some + 1));
      bytes += 4 + std::min(elias, n * bits_) / 8;
    }
    return bytes;
  }
  Speed speed() const override { return {2e9, 4e9}; }

 private:
  // Of the buckets, as they stand in a message.
  struct Norms {
    BytesView bytes;
    float factor;

    float sent(std::size_t bucket) const {
      float norm;
      std::memcpy(&norm, bytes.data() + bucket * sizeof norm, sizeof norm);
      return norm;
    }
    float operator[](std::size_t bucket) const { return sent(bucket) * factor; }
  };

  static std::uint64_t mixed(std::uint64_t key, std::size_t place) {
    std::uint64_t x = key + place * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
  }

  std::size_t fixed_bytes() const { return padded_ / 8 * static_cast<std::size_t>(bits_); }

  void add_elias(BytesView bytes, const Norms& norms, std::span<float> sum) const {
    BytesReader front(bytes);
    const std::uint64_t count = get_varint(front);
    if (count > padded_) throw CommError("a qsgd message has {} of {} values", count, padded_);
    BitReader reader(front.take(front.left()));
    // Places count from 1, with the padding; those of bucket b lie behind `first` up to `end`.
    std::size_t place = 0, b = 0, first = 0, end = 0;
    const auto advance = [&] {
      first = end;
      if (b == buckets_.size()) throw CommError("a qsgd message has places behind its end");
      end += round_up(buckets_[b++].size);
    };
    for (std::uint64_t i = 0; i < count; ++i) {
      const LevelCodes::Next next = codes_.get(reader);
      place += next.gap;
      while (place > end) advance();
      const std::size_t within = place - 1 - first;
      if (within >= buckets_[b - 1].size) throw CommError("a qsgd message has a level in a gap");
      sum[buckets_[b - 1].begin + within] += norms[b - 1] * static_cast<float>(next.level);
    }
    reader.end();
  }

  void add_fixed(BytesReader& reader, const Norms& norms, std::span<float> sum) const {
    for (std::size_t b = 0; b < buckets_.size(); ++b) {
      const Range& bucket = buckets_[b];
      const BytesView packed =
          reader.take(round_up(bucket.size) / 8 * static_cast<std::size_t>(bits_));
      const unsigned most = compress_kernels().add_levels(packed.data(), bucket.size, s_, bits_,
                                                          norms[b], sum.data() + bucket.begin);
      if (most > static_cast<unsigned>(2 * s_)) {
        throw CommError("a qsgd message has level {} of {}", most, s_);
      }
    }
  }

  int s_;
  std::size_t bucket_;
  int bits_;
  std::vector<Range> buckets_;
  std::size_t padded_ = 0;  // levels, with every bucket filled up to a multiple of 8
  AlignedVector<std::int8_t> levels_;
  LevelCodes codes_;  // gaps count all places, also those of the padding
};

OptionSet qsgd_options() {
  OptionSet options;
  options.integer("levels", 4, "s, levels that a magnitude is rounded to").at_least(1).at_most(127);
  options.integer("bucket", 512, "values that share a norm; a multiple of 8")
      .at_least(8)
      .at_most(1 << 20);
  return options;
}

const Registration<Compressor> kQsgd{
    "qsgd", "Values rounded at random to a few levels of their norm; right on average.",
    qsgd_options(), [](const Options& options) {
      const auto bucket = static_cast<std::size_t>(options.integer("bucket"));
      if (bucket % 8 != 0) {
        throw ConfigError("[compress] bucket = {} is not a multiple of 8", bucket);
      }
      return std::make_unique<Qsgd>(static_cast<int>(options.integer("levels")), bucket);
    }};

}  // namespace
}  // namespace lockstep
