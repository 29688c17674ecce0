#include "lockstep/compress/model_stream.h"

#include <algorithm>
#include <cmath>

namespace lockstep {

ModelStream::ModelStream(const CompressionPlan& plan, std::span<const Layer> layers,
                         std::span<const float> known, std::uint64_t seed, std::uint64_t stream)
    : compression_(plan, layers, seed, stream, Feedback::kNone),
      known_(known.begin(), known.end()) {}

double ModelStream::encode(std::span<const float> model, double epoch, Bytes& out) {
  difference_.resize(known_.size());
  for (std::size_t i = 0; i < known_.size(); ++i) difference_[i] = model[i] - known_[i];
  const std::size_t begin = out.size();
  out.extend(sizeof(float));
  compression_.encode(difference_, epoch, out);
  sent_.assign(known_.size(), 0.0f);
  compression_.add(out.view().subspan(begin + sizeof(float)), 1, sent_);
  double along = 0, squares = 0;
  for (std::size_t i = 0; i < sent_.size(); ++i) {
    along += static_cast<double>(difference_[i]) * sent_[i];
    squares += static_cast<double>(sent_[i]) * sent_[i];
  }
  const auto factor = static_cast<float>(squares > 0 ? along / squares : 0);
  std::memcpy(out.at(begin), &factor, sizeof factor);
  take(out.view().subspan(begin));
  double left = 0;
  for (std::size_t i = 0; i < known_.size(); ++i) {
    const double error = static_cast<double>(model[i]) - known_[i];
    left += error * error;
  }
  return left;
}

void ModelStream::add(const Compression& compression, BytesView message, std::span<float> known) {
  BytesReader reader(message);
  const auto factor = reader.get<float>();
  if (!std::isfinite(factor)) throw CommError("a model's difference counts {} times", factor);
  compression.add(reader.take(reader.left()), factor, known);
}

void ModelStream::know(std::span<const float> model) {
  std::ranges::copy(model, known_.begin());
}

void ModelStream::state(StateVisitor& visitor) {
  visitor.floats("known", known_);
  compression_.state(visitor);
}

}  // namespace lockstep
