#include "lockstep/model/chain_replica.h"

#include <cstring>
#include <numeric>

#include "lockstep/base/error.h"

namespace lockstep {

ChainReplica::ChainReplica(const ModelSettings& settings, const std::string& network,
                           const Build& build)
    : settings_(settings), precision_(parse_precision(settings.precision)) {
  torch::set_num_threads(settings.threads);  // torch would take all cores, in every new thread
  ChainBuilder builder(parameters_, settings_, network);
  chain_ = build(builder);
  parameters_.allocate(settings.seed, precision_);
  constexpr double kReferenceCore = 50e9;  // operations a second
  backward_seconds_.resize(layers().size());
  for (const auto& layer : chain_) layer->add_operations(backward_seconds_);
  for (double& seconds : backward_seconds_) seconds *= 2 / kReferenceCore;
  loss_ = {static_cast<std::size_t>(settings.data.classes), settings.label_smoothing};
}

Pass ChainReplica::pass_over(const Batch& batch, bool training) {
  if (batch.size() != last_size_) memory_.clear();
  last_size_ = batch.size();
  Pass pass{parameters_, batch, memory_};
  pass.training = training;
  pass.seed = settings_.seed;
  pass.precision = precision_;
  pass.loss_scale = training && precision_ == Precision::kFp16 ? scale_.value() : 1.0f;
  pass.statistics_sum = &statistics_sum_;
  return pass;
}

// The batch's own memory; a rounded copy in 16-bit precision.
torch::Tensor ChainReplica::input(const Pass& pass) const {
  const Batch& batch = pass.batch;
  LOCKSTEP_CHECK(batch.shape == settings_.data, "a batch of another shape than the model's");
  const auto samples = static_cast<std::int64_t>(batch.size());
  auto* values = const_cast<float*>(batch.values.data());
  const auto& sample = settings_.data.sample;
  torch::Tensor x;
  if (settings_.data.kind == DataShape::Kind::kImage) {
    const auto channels = sample[0], height = sample[1], width = sample[2];
    x = torch::from_blob(values, {samples, channels, height, width},
                         {channels * height * width, 1, channels * width, channels}, torch::kFloat);
  } else {
    x = torch::from_blob(values, {samples, static_cast<std::int64_t>(settings_.data.values())},
                         torch::kFloat);
  }
  if (precision_ == Precision::kFloat) return x;
  x = x.clone();
  pass.round(x);
  return x;
}

torch::Tensor ChainReplica::forward(const Pass& pass) {
  auto x = input(pass);
  for (const auto& layer : chain_) x = layer->forward(x, pass);
  return x;
}

PassResult ChainReplica::forward_backward(const Batch& batch, float weight,
                                          const LayerReady& on_layer) {
  const c10::InferenceMode without_graph;
  Pass pass = pass_over(batch, true);
  pass.on_layer = &on_layer;
  if (batch.size() == 0) return pass_without_samples(pass);

  const auto logits = forward(pass);
  const std::span values(logits.data_ptr<float>(), static_cast<std::size_t>(logits.numel()));
  const auto labels = static_cast<double>(batch.labels.size());
  const auto scale = static_cast<float>(weight * double(pass.loss_scale) / labels);
  const auto sum = loss_.run(values, batch.labels, scale, values, batch.soft);
  if (on_layer) on_layer(kForwardOver);
  auto gradient = logits;
  pass.round(gradient);
  for (auto layer = chain_.rbegin(); layer != chain_.rend() && gradient.defined(); ++layer) {
    gradient = (*layer)->backward(gradient, pass);
  }
  return {sum.loss / labels, batch.labels.size(), sum.correct};
}

PassResult ChainReplica::pass_without_samples(const Pass& pass) {
  std::fill(grads().begin(), grads().end(), 0.0f);
  for (const auto& layer : chain_) layer->forward_without_samples(pass);
  for (auto layer = chain_.rbegin(); layer != chain_.rend(); ++layer) {
    (*layer)->backward_without_samples(pass);
  }
  for (std::size_t i = layers().size(); i-- > 0;) pass.gradient_done(i);
  return {};
}

PassResult ChainReplica::evaluate(const Batch& batch) {
  if (batch.size() == 0) return {};
  const c10::InferenceMode without_graph;
  const auto logits = forward(pass_over(batch, false));
  const SoftmaxLoss plain{loss_.classes};  // smoothed labels are a means of training
  const auto sum = plain.run({logits.data_ptr<float>(), static_cast<std::size_t>(logits.numel())},
                             batch.labels, 1, {});
  return {sum.loss / double(batch.labels.size()), batch.labels.size(), sum.correct};
}

void ChainReplica::predict(const Batch& batch, std::span<float> scores) {
  if (batch.size() == 0) return;
  const c10::InferenceMode without_graph;
  const auto logits = forward(pass_over(batch, false));
  LOCKSTEP_CHECK(static_cast<std::size_t>(logits.numel()) == scores.size(),
                 "room for {} of {} scores", scores.size(), logits.numel());
  std::memcpy(scores.data(), logits.data_ptr<float>(), scores.size_bytes());
}

void ChainReplica::report_overflow(bool overflowed) {
  if (may_overflow()) scale_.update(overflowed);
}

void ChainReplica::state(StateVisitor& visitor) {
  if (!may_overflow()) return;
  StateScope scope(visitor, "loss_scale");
  scale_.state(scope);
}

// Backward is two products for each of forward.
double ChainReplica::modelled_seconds() const {
  return std::accumulate(backward_seconds_.begin(), backward_seconds_.end(), 0.0) * 3 / 2;
}

void ChainReplica::share_statistics(StatisticsSum sum, int /*workers*/) {
  LOCKSTEP_CHECK(settings_.batch_norm == "shared", "batch_norm is {}", settings_.batch_norm);
  statistics_sum_ = std::move(sum);
}

void ChainReplica::save(const std::string& path) {
  ScriptWriter script(parameters_.flat());
  for (const auto& layer : chain_) layer->emit(script);
  script.save(path);
}

std::vector<std::string> ChainReplica::remarks() const {
  if (precision_ == Precision::kFloat) return {};
  return {
      fmt::format("{} is emulated by rounding weights, activations and gradients between "
                  "layers: same mathematics, no gain in speed",
                  to_text(precision_))};
}

}  // namespace lockstep
