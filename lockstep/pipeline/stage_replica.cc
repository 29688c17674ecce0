#include "lockstep/pipeline/stage_replica.h"

#include <algorithm>
#include <cstring>

#include "lockstep/base/error.h"
#include "lockstep/base/state_store.h"
#include "lockstep/collective/chunks.h"

namespace lockstep {
namespace {

constexpr Tag kForwardTag = 120, kBackwardTag = 121, kSumsTag = 122;

// Values and labels only where they count.
void part_of(const Batch& batch, Range samples, bool values, bool labels, Batch& part) {
  const auto cut = [&](const auto& from, std::size_t each, auto& to) {
    const auto begin = from.begin() + static_cast<std::ptrdiff_t>(samples.begin * each);
    to.assign(begin, begin + static_cast<std::ptrdiff_t>(samples.size * each));
  };
  part.shape = batch.shape;
  part.step = batch.step;
  cut(batch.ids, 1, part.ids);
  if (values && !batch.values.empty()) cut(batch.values, batch.shape.values(), part.values);
  if (values && !batch.tokens.empty()) cut(batch.tokens, batch.shape.values(), part.tokens);
  if (labels) cut(batch.labels, batch.shape.labels_per_sample(), part.labels);
}

}  // namespace

StageReplica::Sums StageReplica::Sums::of(const PassResult& result) {
  const auto labels = static_cast<double>(result.labels);
  return {result.loss * labels, labels, static_cast<double>(result.correct)};
}

void StageReplica::Sums::add(const Sums& other) {
  loss += other.loss;
  labels += other.labels;
  correct += other.correct;
}

// They came from another rank.
void StageReplica::Sums::check() const {
  constexpr double kMost = 1e15;
  if (labels >= 0 && labels <= kMost && correct >= 0 && correct <= labels) return;
  throw CommError("a stage was told of {} hits among {} labels", correct, labels);
}

PassResult StageReplica::Sums::mean() const {
  if (labels == 0) return {};
  return {loss / labels, static_cast<std::size_t>(labels), static_cast<std::size_t>(correct)};
}

StageReplica::StageReplica(std::unique_ptr<Stage> stage, std::unique_ptr<PipelineSchedule> schedule,
                           const Setup& setup)
    : stage_(std::move(stage)),
      schedule_(std::move(schedule)),
      setup_(setup),
      transport_(setup.transport) {
  if (setup.recompute && !stage_->repeats()) {
    throw ConfigError(
        "[parallel] recompute computes forward again, and dropout would not be the same again; "
        "leave "
        "recompute out");
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

// The slot is free from here on.
void StageReplica::expect_in(int microbatch) {
  if (microbatch >= microbatches_ || first()) return;
  Slot& slot = slot_of(microbatch);
  slot.in.resize(samples_of(microbatch) * stage_->in_values());
  slot.in_arrives =
      transport_.irecv(setup_.previous, kForwardTag, std::as_writable_bytes(std::span(slot.in)));
}

void StageReplica::take(int microbatch) {
  Slot& slot = slot_of(microbatch);
  part_of(*batch_, chunk(batch_->size(), microbatches_, microbatch), first(), last(), slot.micro);
  if (!first()) arrive(slot.in_arrives, slot.in);
  if (last()) return;
  await(slot.out_leaves);  // of the slot's last user
  slot.out.resize(samples_of(microbatch) * stage_->out_values());
}

void StageReplica::hand_on(int microbatch) {
  if (last()) return;
  Slot& slot = slot_of(microbatch);
  const auto bytes = std::as_bytes(std::span(slot.out));
  slot.out_leaves = transport_.isend(setup_.next, kForwardTag, bytes);
  times_.sent += bytes.size();
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
  slot.out_gradient.resize(slot.out.size() + sizeof(Sums) / sizeof(float));
  slot.out_gradient_arrives = transport_.irecv(
      setup_.next, kBackwardTag, std::as_writable_bytes(std::span(slot.out_gradient)));
}

void StageReplica::backward(int microbatch, const LayerReady& on_layer) {
  Slot& slot = slot_of(microbatch);
  if (!last()) {
    arrive(slot.out_gradient_arrives, slot.out_gradient);
    std::memcpy(static_cast<void*>(&slot.sums), slot.out_gradient.data() + slot.out.size(),
                sizeof slot.sums);
    slot.sums.check();
    sums_.add(slot.sums);
  }
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

void StageReplica::hand_back(int microbatch) {
  if (first()) return;
  Slot& slot = slot_of(microbatch);
  std::memcpy(slot.in_gradient.data() + slot.in.size(), &slot.sums, sizeof slot.sums);
  const auto bytes = std::as_bytes(std::span(slot.in_gradient));
  slot.in_gradient_leaves = transport_.isend(setup_.previous, kBackwardTag, bytes);
  times_.sent += bytes.size();
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

// From the last stage to all before it.
void StageReplica::collect_sums() {
  transport_.step("what was found", 0, 1);
  const auto bytes = std::as_writable_bytes(std::span(&sums_, 1));
  if (!last()) {
    Request arrives = transport_.irecv(setup_.next, kSumsTag, bytes);
    transport_.wait(arrives);
    sums_.check();
  }
  if (first()) return;
  Request leaves = transport_.isend(setup_.previous, kSumsTag, bytes);
  transport_.wait(leaves);
}

void StageReplica::arrive(Request& request, std::span<const float> whole) {
  await(request);
  if (request.bytes() == whole.size_bytes()) return;
  throw CommError("rank {} sent {} bytes of a micro-batch instead of {}", request.peer(),
                  request.bytes(), whole.size_bytes());
}

void StageReplica::await(Request& request) {
  if (!request.active()) return;
  const double began = transport_.now();
  transport_.wait(request);
  if (!training_) return;
  count(began, Activity::kIdle, -1, &PassTimes::waited);
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
