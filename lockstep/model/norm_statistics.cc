// The statistics of a Norm: from sums over rows to mean, variance, scale and shift of each channel.
#include <algorithm>
#include <cmath>

#include "lockstep/base/error.h"
#include "lockstep/model/norm.h"
#include "lockstep/model/norm_kernels.h"

namespace lockstep {

std::size_t Norm::group_size() const {
  return is(NormShape::Kind::kGroup) ? channels() / static_cast<std::size_t>(shape_.groups) : 1;
}

double Norm::rows_of(std::size_t segment) const {
  return shape_.shared ? shared_rows_ : static_cast<double>(segments_[segment].rows);
}

std::vector<float> Norm::weights() const {
  if (is(NormShape::Kind::kNone)) return std::vector<float>(channels(), 1.0f);
  const float* values = parameters_.value(weight_).data_ptr<float>();
  return {values, values + channels()};
}

void Norm::set_segments(std::size_t rows, const Pass& pass) {
  const std::size_t samples = pass.batch.size();
  const std::size_t pixels = samples == 0 ? 0 : rows / samples;
  std::vector<std::size_t> lengths{rows};
  if (is(NormShape::Kind::kGroup)) lengths.assign(samples, pixels);
  const bool evaluated = !pass.training && moving_averages();
  if (is(NormShape::Kind::kBatch) && !shape_.shared && !evaluated) {
    lengths = pass.parts();
    for (auto& length : lengths) length *= pixels;
  }
  segments_ = NormSegments(lengths);
}

// Adds up the sums and the numbers of rows over the workers that share statistics.
void Norm::share(Sums& sums, const Pass& pass) {
  if (pass.statistics_sum == nullptr || !*pass.statistics_sum) return;
  std::vector<float> message(sums.begin(), sums.end());
  message.push_back(static_cast<float>(segments_[0].rows));
  (*pass.statistics_sum)(message);
  shared_rows_ = message.back();
  std::copy_n(message.begin(), sums.size(), sums.begin());
}

void Norm::find_statistics(const torch::Tensor& x, const Pass& pass) {
  // Squares are summed about the first row of a segment, so that a mean far from zero costs no
  // digits; where workers share they are summed about zero, on which all agree.
  std::vector<float> origins(segments_.size() * channels(), 0.0f);
  const float* values = x.defined() ? x.data_ptr<float>() : nullptr;
  for (std::size_t s = 0; s < segments_.size(); ++s) {
    if (segments_[s].rows == 0 || shape_.shared) continue;
    std::copy_n(values + segments_[s].first * channels(), channels(),
                origins.data() + s * channels());
  }
  auto sums = segments_.sums(2 * channels(), [&](const NormSegments::Block& block, float* out) {
    norm_kernels().sum_columns({block.rows, channels()}, values + block.first * channels(),
                               origins.data() + block.segment * channels(), out, out + channels());
  });
  shared_rows_ = static_cast<double>(segments_.size() == 0 ? 0 : segments_[0].rows);
  if (shape_.shared && pass.training) share(sums, pass);
  set_statistics(sums, origins);
}

void Norm::set_statistics(const Sums& sums, const std::vector<float>& origins) {
  const std::size_t group = group_size();
  mean_.assign(segments_.size() * channels(), 0.0f);
  variance_ = mean_;
  for (std::size_t s = 0; s < segments_.size(); ++s) {
    const double rows = rows_of(s);
    if (rows == 0) continue;
    const double* sum = sums.data() + s * 2 * channels();
    for (std::size_t first = 0; first < channels(); first += group) {
      const std::size_t at = s * channels();
      double mean = 0, variance = 0;
      for (std::size_t c = first; c < first + group; ++c) {
        mean += (origins[at + c] + sum[c] / rows) / static_cast<double>(group);
      }
      for (std::size_t c = first; c < first + group; ++c) {
        const double own = sum[c] / rows, off = origins[at + c] + own - mean;
        variance += (sum[channels() + c] / rows - own * own + off * off) / double(group);
      }
      std::fill_n(mean_.data() + at + first, group, static_cast<float>(mean));
      std::fill_n(variance_.data() + at + first, group,
                  static_cast<float>(std::max(0.0, variance)));
    }
  }
}

void Norm::take_moving_averages() {
  const float* mean = parameters_.buffer(mean_buffer_).data_ptr<float>();
  const float* variance = parameters_.buffer(variance_buffer_).data_ptr<float>();
  mean_.assign(mean, mean + channels());
  variance_.assign(variance, variance + channels());
}

// With the average of the workers' statistics: as the update is linear, that gives the average of
// the moving averages that the workers would have had each on its own. A worker without samples
// would have kept its own.
void Norm::update_moving_averages() {
  float* mean = parameters_.buffer(mean_buffer_).data_ptr<float>();
  float* variance = parameters_.buffer(variance_buffer_).data_ptr<float>();
  const double share_of_worker = kMomentum / static_cast<double>(segments_.size());
  for (std::size_t c = 0; c < channels(); ++c) {
    double mean_change = 0, variance_change = 0;
    for (std::size_t s = 0; s < segments_.size(); ++s) {
      const double rows = rows_of(s);
      if (rows == 0) continue;
      const double unbiased = rows > 1 ? rows / (rows - 1) : 1;
      mean_change += double(mean_[s * channels() + c]) - mean[c];
      variance_change += double(variance_[s * channels() + c]) * unbiased - variance[c];
    }
    mean[c] += static_cast<float>(share_of_worker * mean_change);
    variance[c] += static_cast<float>(share_of_worker * variance_change);
  }
}

void Norm::set_scale_and_shift() {
  const auto weight = weights();
  const float* bias = parameters_.value(bias_).data_ptr<float>();
  inverse_deviation_.resize(mean_.size());
  scale_.resize(mean_.size());
  shift_.resize(mean_.size());
  for (std::size_t i = 0; i < mean_.size(); ++i) {
    const std::size_t c = i % channels();
    const double inverse =
        is(NormShape::Kind::kNone) ? 1 : 1 / std::sqrt(double(variance_[i]) + kEpsilon);
    inverse_deviation_[i] = static_cast<float>(inverse);
    scale_[i] = static_cast<float>(inverse * weight[c]);
    shift_[i] = static_cast<float>(bias[c] - double(mean_[i]) * inverse * weight[c]);
  }
}

}  // namespace lockstep
