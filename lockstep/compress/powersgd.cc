// PowerSGD (Vogels et al. 2019): a layer's gradient as a matrix M (n × m) is nearly of low rank.
// One step of the power method gives its best rank-r factors, and that starts from the factors of
// the step before, so that over many steps it is as good as an exact decomposition:
//
//   P ← mean of M·Q          n × r, all-reduced
//   P ← orthonormal P
//   Q ← mean of Mᵀ·P         m × r, all-reduced
//   M ≈ P·Qᵀ
//
// P and Q are linear in M: they add up. Layers that are vectors, or so small that the factors would
// be larger, go as they are. Where messages cannot be averaged on the way (a server, gossip) the
// same is done by one worker alone.
#include <algorithm>
#include <cmath>

#include "lockstep/base/aligned.h"
#include "lockstep/base/half.h"
#include "lockstep/base/random.h"
#include "lockstep/compress/kernels.h"
#include "lockstep/compress/low_rank.h"
#include "lockstep/compress/on_runs.h"

namespace lockstep {
namespace {

class PowerSgd : public OnRuns, public Summands {
 public:
  PowerSgd(int rank, bool warm_start, FilterView view)
      : rank_(rank), warm_start_(warm_start), view_(view) {}

  void prepare(std::span<const Layer> layers) override {
    OnRuns::prepare(layers);
    matrices_.clear();
    std::vector<Layer> plain;
    std::size_t p = 0, q = 0;
    for (const Layer& layer : layers) {
      const Factors factors = factors_of(layer, rank_, view_);
      if (factors.rank == 0) {
        plain.push_back(layer);
        continue;
      }
      matrices_.push_back({factors, p, q});
      p += factors.rows * factors.rank;
      q += factors.columns * factors.rank;
    }
    plain_ = runs_of(plain);
    p_.assign(p + size_of(plain_), 0.0f);
    q_.assign(q, 0.0f);
    own_q_.resize(q);
    next_q_.resize(q);
    for (std::size_t i = 0; i < matrices_.size(); ++i) seed_all(matrices_[i], i);
  }

  int rounds() const override { return matrices_.empty() ? 1 : 2; }
  Summands* summands() override { return this; }
  std::span<float> summands(int round, std::span<const float> values, std::span<float>,
                            const Moment&) override {
    if (round == 0) {
      multiply(values);
      return p_;
    }
    multiply_back(values);
    return next_q_;
  }
  void finish(std::span<float> mean, std::span<float> rest) override {
    if (!rest.empty()) {
      for (const Matrix& matrix : matrices_) {
        add_product(matrix, p_.data() + matrix.p, own_q_.data() + matrix.q, -1, rest.data());
      }
      for (const Range& run : plain_) std::fill_n(rest.data() + run.begin, run.size, 0.0f);
    }
    for (const Matrix& matrix : matrices_) {
      set_product(matrix, p_.data() + matrix.p, next_q_.data() + matrix.q, mean.data());
    }
    copy_plain_to(mean);
    start_next();
  }

  void encode(std::span<const float> values, const Moment&, Bytes& out) override {
    multiply(values);
    multiply_back(values);
    for (const auto part : {std::span<const float>(p_), std::span<const float>(next_q_)}) {
      if (part.empty()) continue;
      std::memcpy(out.extend(part.size_bytes()), part.data(), part.size_bytes());
    }
    start_next();
  }
  void add(BytesView message, float scale, std::span<float> sum) const override {
    BytesReader reader(message);
    AlignedVector<float> p(p_.size()), q(q_.size());
    for (const auto part : {std::span<float>(p), std::span<float>(q)}) {
      const BytesView bytes = reader.take(part.size_bytes());
      if (!part.empty()) std::memcpy(part.data(), bytes.data(), bytes.size());
    }
    reader.end();
    for (const Matrix& matrix : matrices_) {
      add_product(matrix, p.data() + matrix.p, q.data() + matrix.q, scale, sum.data());
    }
    const float* from = p.data() + factors_size();
    for (const Range& run : plain_) {
      compress_kernels().add_scaled(from, run.size, scale, sum.data() + run.begin);
      from += run.size;
    }
  }

  bool biased() const override { return true; }
  bool whole_layers() const override { return true; }
  double expected_bytes(const Moment&) const override {
    return static_cast<double>((p_.size() + q_.size()) * sizeof(float));
  }
  Speed speed() const override { return {4e9, 6e9}; }
  void state(StateVisitor& visitor) override {
    visitor.floats("q", q_);
    visitor.integer("messages", messages_);
  }

 private:
  struct Matrix : Factors {
    Matrix(const Factors& factors, std::size_t p_at, std::size_t q_at)
        : Factors(factors), p(p_at), q(q_at) {}
    std::size_t p, q;  // where its factors are among those of all
  };

  std::size_t factors_size() const { return p_.size() - size_of(plain_); }

  // P ← M·Q, and the plain layers behind it.
  void multiply(std::span<const float> values) {
    for (const Matrix& matrix : matrices_) {
      project(matrix, values.data(), q_.data() + matrix.q, p_.data() + matrix.p);
    }
    float* to = p_.data() + factors_size();
    for (const Range& run : plain_) to = std::copy_n(values.data() + run.begin, run.size, to);
    check(p_, values);
  }

  // P ← orthonormal P, Q ← Mᵀ·P.
  void multiply_back(std::span<const float> values) {
    std::ranges::fill(next_q_, 0.0f);
    for (const Matrix& matrix : matrices_) {
      float* const p = p_.data() + matrix.p;
      orthonormalise(p, matrix.rows, matrix.rank);
      project_back(matrix, values.data(), p, next_q_.data() + matrix.q);
    }
    check(next_q_, values);
    own_q_ = next_q_;
  }

  void copy_plain_to(std::span<float> mean) const {
    const float* from = p_.data() + factors_size();
    for (const Range& run : plain_) {
      std::copy_n(from, run.size, mean.data() + run.begin);
      from += run.size;
    }
  }

  // What the next message starts from: directions count, not their lengths.
  void start_next() {
    ++messages_;
    for (std::size_t i = 0; i < matrices_.size(); ++i) {
      const Matrix& matrix = matrices_[i];
      if (!warm_start_) {
        seed_all(matrix, i);
        continue;
      }
      std::copy_n(next_q_.data() + matrix.q, matrix.columns * matrix.rank, q_.data() + matrix.q);
      for (std::size_t k = 0; k < matrix.rank; ++k) {
        float* const column = q_.data() + matrix.q + k * matrix.columns;
        // A direction that has died out would never come back.
        if (!normalise(column, matrix.columns)) seed(column, matrix.columns, i, k);
      }
    }
  }

  void seed_all(const Matrix& matrix, std::size_t index) {
    for (std::size_t k = 0; k < matrix.rank; ++k) {
      seed(q_.data() + matrix.q + k * matrix.columns, matrix.columns, index, k);
    }
  }
  // The same on all workers.
  void seed(float* column, std::size_t size, std::size_t matrix, std::size_t k) const {
    Random random(static_cast<std::uint64_t>(messages_), "powersgd", matrix, k);
    for (std::size_t i = 0; i < size; ++i) column[i] = static_cast<float>(random.normal());
    normalise(column, size);
  }

  // Are factors finite? If not, the values are not, or too large.
  void check(std::span<const float> factors, std::span<const float> values) const {
    if (compress_kernels().largest(factors.data(), factors.size()) < kNotFinite) return;
    for (const Layer& layer : layers()) {
      check_finite(compress_kernels().largest(values.data() + layer.offset, layer.size), values);
    }
    throw TrainingError("the layers from {} on hold values so large that their sums are infinite",
                        layers().front().name);
  }

  int rank_;
  bool warm_start_;
  FilterView view_;
  std::vector<Matrix> matrices_;
  std::vector<Range> plain_;
  AlignedVector<float> p_;                   // of all matrices, then the plain layers
  AlignedVector<float> q_, own_q_, next_q_;  // before, of this worker, of all
  std::int64_t messages_ = 0;
};

OptionSet powersgd_options() {
  OptionSet options;
  options.integer("rank", 4, "r, of the factors").at_least(1).at_most(1024);
  options.flag("warm_start", true, "start from the factors of the step before");
  options
      .text(
          "filters", "square",
          "how a convolution's filters are a matrix: square is (out·height) × (in·width), rows is "
          "out × all others")
      .one_of({"rows", "square"});
  return options;
}

const Registration<Compressor> kPowerSgd{
    "powersgd", "Matrices as products of low rank; factors add up.", powersgd_options(),
    [](const Options& options) {
      return std::make_unique<PowerSgd>(
          static_cast<int>(options.integer("rank")), options.flag("warm_start"),
          options.text("filters") == "rows" ? FilterView::kRows : FilterView::kSquare);
    }};

}  // namespace
}  // namespace lockstep
