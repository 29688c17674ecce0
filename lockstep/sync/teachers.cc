#include "lockstep/sync/teachers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lockstep {
namespace {

// mean += share · softmax(scores / T), for one label. Uses the scores up.
void add_softened(std::span<float> scores, double temperature, double share,
                  std::span<float> mean) {
  const double largest = *std::max_element(scores.begin(), scores.end());
  double total = 0;
  for (float& score : scores) {
    score = static_cast<float>(std::exp((score - largest) / temperature));
    total += score;
  }
  const double factor = share / total;
  for (std::size_t c = 0; c < scores.size(); ++c) mean[c] += static_cast<float>(factor * scores[c]);
}

}  // namespace

AlignedVector<float> model_of(Replica& replica) {
  const auto params = replica.params(), buffers = replica.buffers();
  AlignedVector<float> model(params.begin(), params.end());
  model.insert(model.end(), buffers.begin(), buffers.end());
  return model;
}

void put_model(std::span<const float> model, Replica& replica) {
  const std::size_t params = replica.params().size();
  std::ranges::copy(model.first(params), replica.params().begin());
  std::ranges::copy(model.subspan(params), replica.buffers().begin());
  replica.apply_update();
}

void Teachers::start(Replica& replica, int count) {
  models_.assign(static_cast<std::size_t>(count), model_of(replica));
}

void Teachers::predict(Replica& replica, double temperature, Batch& batch) {
  const std::size_t labels = batch.labels.size();
  const auto classes = static_cast<std::size_t>(batch.shape.classes);
  auto& mean = batch.soft.probabilities;
  mean.assign(labels * classes, 0.0f);
  if (labels == 0) return;
  const AlignedVector<float> own = model_of(replica);
  scores_.resize(mean.size());
  for (const auto& model : models_) {
    put_model(model, replica);
    replica.predict(batch, scores_);
    for (std::size_t row = 0; row < labels; ++row) {
      add_softened(std::span(scores_).subspan(row * classes, classes), temperature, 1.0 / size(),
                   std::span(mean).subspan(row * classes, classes));
    }
  }
  put_model(own, replica);
}

void Teachers::state(StateVisitor& visitor) {
  for (std::size_t i = 0; i < models_.size(); ++i) {
    visitor.floats(fmt::format("teacher{}", i), models_[i]);
  }
}

}  // namespace lockstep
