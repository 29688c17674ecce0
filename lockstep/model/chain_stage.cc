#include "lockstep/model/chain_stage.h"

#include <cstring>
#include <utility>

namespace lockstep {

ChainStage::ChainStage(const ModelSettings& settings, std::string network, BuildChain build,
                       Range units)
    : ChainModel(settings), network_(std::move(network)), build_(std::move(build)), units_(units) {
  ChainBuilder whole = builder();
  slots_.resize(1);
  slots_[0].chain = build_(whole);
  allocate(slots_[0].chain);
  first_ = units.begin == 0;
  last_ = units.end() == whole.units().size();
  entry_ = whole.entry(units.begin);
  if (!last_) exit_ = whole.entry(units.end());
}

ChainBuilder ChainStage::builder() {
  return {parameters_, settings_, network_, units_};
}

void ChainStage::make_slots(std::size_t count) {
  const std::size_t before = slots_.size();
  slots_.resize(std::max<std::size_t>(count, 1));
  for (std::size_t i = before; i < slots_.size(); ++i) {
    ChainBuilder again = builder();
    slots_[i].chain = build_(again);
  }
}

void ChainStage::forget_other_sizes(std::size_t samples) {
  if (samples != std::exchange(last_size_, samples)) memory_.clear();
}

torch::Tensor ChainStage::entering(const Pass& pass, std::span<const float> in) const {
  if (first_) return input(pass);
  const std::size_t samples = pass.batch.size();
  LOCKSTEP_CHECK(in.size() == samples * entry_.values(), "{} values of {} samples", in.size(),
                 samples);
  return entry_.over(in.data(), static_cast<std::int64_t>(samples));
}

void ChainStage::leave(const ActivationShape& shape, const torch::Tensor& x, std::span<float> out) {
  const auto dense =
      x.contiguous(shape.is_image ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous);
  LOCKSTEP_CHECK(static_cast<std::size_t>(dense.numel()) == out.size(), "room for {} of {} values",
                 out.size(), dense.numel());
  std::memcpy(out.data(), dense.data_ptr<float>(), out.size_bytes());
}

PassResult ChainStage::forward(const MicroBatch& micro, std::span<const float> in,
                               std::span<float> out) {
  const c10::InferenceMode without_graph;
  if (!micro.adds) forget_other_sizes(micro.batch.size());
  Slot& slot = slots_[micro.slot];
  const Pass pass = pass_over(micro.batch, true);
  const auto x = run_forward(slot.chain, entering(pass, in), pass);
  if (!last_) {
    leave(exit_, x, out);
    return {};
  }
  const auto& labels = micro.batch.labels;
  const auto sum = loss_.run(values_of(x), labels, micro.scale, values_of(x));
  slot.gradient = x;
  pass.round(slot.gradient);
  return {sum.loss / static_cast<double>(labels.size()), labels.size(), sum.correct};
}

void ChainStage::backward(const MicroBatch& micro, std::span<float> out, std::span<float> in,
                          const LayerReady& on_layer) {
  const c10::InferenceMode without_graph;
  Slot& slot = slots_[micro.slot];
  Pass pass = pass_over(micro.batch, true);
  pass.on_layer = &on_layer;
  parameters_.add_up(micro.adds);
  auto gradient = last_ ? std::move(slot.gradient)
                        : exit_.over(out.data(), static_cast<std::int64_t>(micro.batch.size()));
  gradient = run_backward(slot.chain, std::move(gradient), pass);
  parameters_.add_up(false);
  if (!first_) leave(entry_, gradient, in);
}

PassResult ChainStage::evaluate(const Batch& batch, std::span<const float> in,
                                std::span<float> out) {
  const c10::InferenceMode without_graph;
  forget_other_sizes(batch.size());
  const Pass pass = pass_over(batch, false);
  const auto x = run_forward(slots_[0].chain, entering(pass, in), pass);
  if (last_) return plain_loss(x, batch);
  leave(exit_, x, out);
  return {};
}

}  // namespace lockstep
