#include "lockstep/pipeline/stage_replica.h"

#include <algorithm>

#include "lockstep/base/error.h"
#include "lockstep/base/state_store.h"
#include "lockstep/collective/chunks.h"

namespace lockstep {

StageReplica::StageReplica(std::unique_ptr<Stage> stage, std::unique_ptr<PipelineSchedule> schedule,
                           const Setup& setup)
    : stage_(std::move(stage)),
      schedule_(std::move(schedule)),
      setup_(setup),
      transport_(setup.transport) {
  if (setup.recompute && !stage_->repeats()) {
    throw ConfigError(
        "[parallel] recompute computes forward again, and dropout would not be the same again; "
        "leave recompute out");
  }
  slots_.resize(static_cast<std::size_t>(peak_activations(operations(setup.microbatches))));
  stage_->make_slots(setup.recompute ? 1 : slots_.size());
}

const std::vector<PipelineOp>& StageReplica::operations(int microbatches) {
  auto& found = operations_[microbatches];
  if (found.empty()) {
    found = schedule_->operations(setup_.stage, setup_.stages, microbatches);
    LOCKSTEP_CHECK(slots_.empty() || peak_activations(found) <= static_cast<int>(slots_.size()),
                   "fewer micro-batches need more slots");
  }
  return found;
}

std::size_t StageReplica::samples_of(int microbatch) const {
  return chunk(batch_->size(), microbatches_, microbatch).size;
}

MicroBatch StageReplica::micro_of(int microbatch) {
  const std::size_t slot = setup_.recompute ? 0 : std::size_t(microbatch) % slots_.size();
  return {slot_of(microbatch).micro, slot, scale_, microbatch > 0};
}

PassResult StageReplica::forward_backward(const Batch& batch, float weight,
                                          const LayerReady& on_layer) {
  if (batch.size() == 0) return pass_without_samples(on_layer);
  const Operation operation(transport_, "pipeline");
  training_ = true;
  scale_ = static_cast<float>(weight /
                              static_cast<double>(batch.size() * batch.shape.labels_per_sample()));
  begin(batch);
  const LayerReady nobody;
  for (const PipelineOp& op : operations(microbatches_)) {
    if (op.kind == PipelineOp::Kind::kForward) {
      transport_.step("forward", op.microbatch, microbatches_);
      forward(op.microbatch);
    } else {
      transport_.step("backward", op.microbatch, microbatches_);
      backward(op.microbatch, op.microbatch + 1 == microbatches_ ? on_layer : nobody);
    }
  }
  return sums_.mean();
}

void StageReplica::begin(const Batch& batch) {
  batch_ = &batch;
  microbatches_ =
      static_cast<int>(std::min(static_cast<std::size_t>(setup_.microbatches), batch.size()));
  in_stage_ = -1;
  sums_ = {};
  for (int i = 0; i < std::min(microbatches_, static_cast<int>(slots_.size())); ++i) expect_in(i);
}

void StageReplica::forward(int microbatch) {
  take(microbatch);
  Slot& slot = slot_of(microbatch);
  const double began = transport_.now();
  const PassResult result = stage_->forward(micro_of(microbatch), slot.in, slot.out);
  transport_.charge(modelled_seconds() / 3 * static_cast<double>(slot.micro.size()));
  count(began, Activity::kForward, microbatch, &PassTimes::forward);
  in_stage_ = microbatch;
  if (last()) {
    slot.sums = Sums::of(result);
    sums_.add(slot.sums);
    return;
  }
  hand_on(microbatch);
  expect_gradient(microbatch);
}

void StageReplica::backward(int microbatch, const LayerReady& on_layer) {
  Slot& slot = slot_of(microbatch);
  if (!last()) take_gradient(microbatch);
  if (!first()) {
    await(slot.in_gradient_leaves);
    slot.in_gradient.resize(slot.in.size() + sizeof(Sums) / sizeof(float));
  }
  const double began = transport_.now();
  if (setup_.recompute && in_stage_ != microbatch) compute_again(microbatch);
  differentiate(microbatch, on_layer);
  in_stage_ = -1;
  count(began, Activity::kBackward, microbatch, &PassTimes::backward);
  hand_back(microbatch);
  expect_in(microbatch + static_cast<int>(slots_.size()));
}

// Running statistics have seen these samples already.
void StageReplica::compute_again(int microbatch) {
  Slot& slot = slot_of(microbatch);
  const auto buffers = stage_->buffers();
  kept_buffers_.assign(buffers.begin(), buffers.end());
  const auto show = [this](StateVisitor& visitor) { stage_->state(visitor); };
  const StateStore kept(show);          // counters, if there are any
  unused_out_.resize(slot.out.size());  // the one that left may still be on its way
  stage_->forward(micro_of(microbatch), slot.in, unused_out_);
  std::ranges::copy(kept_buffers_, buffers.begin());
  kept.restore(show);
  transport_.charge(modelled_seconds() / 3 * static_cast<double>(slot.micro.size()));
}

// Where a clock is simulated, layers are announced as it moves, never from within the stage: it may
// be in the midst of autograd.
void StageReplica::differentiate(int microbatch, const LayerReady& on_layer) {
  Slot& slot = slot_of(microbatch);
  const auto out = std::span(slot.out_gradient).first(last() ? 0 : slot.out.size());
  const auto in = std::span(slot.in_gradient).first(first() ? 0 : slot.in.size());
  if (!transport_.simulated()) return stage_->backward(micro_of(microbatch), out, in, on_layer);
  order_.clear();
  stage_->backward(micro_of(microbatch), out, in,
                   [this](std::size_t layer) { order_.push_back(layer); });
  const auto samples = static_cast<double>(slot.micro.size());
  const double all = modelled_seconds() * 2 / 3 * samples;
  if (!on_layer) return transport_.charge(all);
  const auto by_layer = backward_seconds();
  const auto parameters = static_cast<double>(params().size());
  for (const std::size_t layer : order_) {
    transport_.charge(by_layer.empty()
                          ? all * static_cast<double>(layers()[layer].size) / parameters
                          : by_layer[layer] * samples);
    on_layer(layer);
  }
}

PassResult StageReplica::pass_without_samples(const LayerReady& on_layer) {
  std::ranges::fill(grads(), 0.0f);
  if (on_layer) {
    for (std::size_t i = layers().size(); i-- > 0;) on_layer(i);
  }
  return {};
}

PassResult StageReplica::evaluate(const Batch& batch) {
  if (batch.size() == 0) return {};
  const Operation operation(transport_, "pipeline, evaluating");
  training_ = false;
  begin(batch);
  for (int i = 0; i < microbatches_; ++i) {
    transport_.step("forward", i, microbatches_);
    take(i);
    Slot& slot = slot_of(i);
    const PassResult result = stage_->evaluate(slot.micro, slot.in, slot.out);
    transport_.charge(modelled_seconds() / 3 * static_cast<double>(slot.micro.size()));
    if (last()) sums_.add(Sums::of(result));
    hand_on(i);
    expect_in(i + static_cast<int>(slots_.size()));
  }
  collect_sums();
  return sums_.mean();
}

void StageReplica::count(double began, Activity activity, int microbatch,
                         double PassTimes::*seconds) {
  const double ended = transport_.now();
  times_.*seconds += ended - began;
  if (setup_.timeline == nullptr) return;
  // Parts count from 1: 0 is a whole batch.
  setup_.timeline->add(activity, began, ended, 0, static_cast<std::uint32_t>(microbatch + 1));
}

void StageReplica::save(const std::string&) {
  LOCKSTEP_CHECK(false, "a stage is no model that could be saved");
}

}  // namespace lockstep
