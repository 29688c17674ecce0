#include "lockstep/model/chain_replica.h"

#include <cstring>

#include "lockstep/base/error.h"

namespace lockstep {

ChainReplica::ChainReplica(const ModelSettings& settings, const std::string& network,
                           const BuildChain& build)
    : ChainModel(settings) {
  ChainBuilder builder(parameters_, settings_, network);
  chain_ = build(builder);
  allocate(chain_);
}

std::vector<ModelUnit> ChainKind::units(const ModelSettings& settings) const {
  ParameterStore none;
  ChainBuilder builder(none, settings, network_, {0, 0});
  build_(builder);
  return builder.units();
}

Pass ChainReplica::begin_pass(const Batch& batch, bool training) {
  if (batch.size() != last_size_) memory_.clear();
  last_size_ = batch.size();
  Pass pass = pass_over(batch, training);
  pass.loss_scale = training && precision_ == Precision::kFp16 ? scale_.value() : 1.0f;
  pass.statistics_sum = &statistics_sum_;
  return pass;
}

PassResult ChainReplica::forward_backward(const Batch& batch, float weight,
                                          const LayerReady& on_layer) {
  const c10::InferenceMode without_graph;
  Pass pass = begin_pass(batch, true);
  pass.on_layer = &on_layer;
  if (batch.size() == 0) return pass_without_samples(pass);

  const auto logits = run_forward(chain_, input(pass), pass);
  const auto values = values_of(logits);
  const auto labels = static_cast<double>(batch.labels.size());
  const auto scale = static_cast<float>(weight * double(pass.loss_scale) / labels);
  const auto sum = loss_.run(values, batch.labels, scale, values, batch.soft);
  if (on_layer) on_layer(kForwardOver);
  pass.round(logits);  // now their gradient
  run_backward(chain_, logits, pass);
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

torch::Tensor ChainReplica::scores_of(const Batch& batch) {
  const Pass pass = begin_pass(batch, false);
  return run_forward(chain_, input(pass), pass);
}

PassResult ChainReplica::evaluate(const Batch& batch) {
  if (batch.size() == 0) return {};
  const c10::InferenceMode without_graph;
  return plain_loss(scores_of(batch), batch);
}

void ChainReplica::predict(const Batch& batch, std::span<float> scores) {
  if (batch.size() == 0) return;
  const c10::InferenceMode without_graph;
  const auto logits = scores_of(batch);
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

void ChainReplica::share_statistics(StatisticsSum sum, int /*workers*/) {
  LOCKSTEP_CHECK(settings_.batch_norm == "shared", "batch_norm is {}", settings_.batch_norm);
  statistics_sum_ = std::move(sum);
}

void ChainReplica::save(const std::string& path) {
  ScriptWriter script(parameters_.flat());
  for (const auto& layer : chain_) layer->emit(script);
  script.save(path);
}

}  // namespace lockstep
