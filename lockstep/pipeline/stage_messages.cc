// What a stage exchanges with its neighbours.
#include <cstring>

#include "lockstep/base/error.h"
#include "lockstep/collective/chunks.h"
#include "lockstep/pipeline/stage_replica.h"

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

void StageReplica::expect_gradient(int microbatch) {
  Slot& slot = slot_of(microbatch);
  slot.out_gradient.resize(slot.out.size() + sizeof(Sums) / sizeof(float));
  slot.out_gradient_arrives = transport_.irecv(
      setup_.next, kBackwardTag, std::as_writable_bytes(std::span(slot.out_gradient)));
}

void StageReplica::take_gradient(int microbatch) {
  Slot& slot = slot_of(microbatch);
  arrive(slot.out_gradient_arrives, slot.out_gradient);
  std::memcpy(static_cast<void*>(&slot.sums), slot.out_gradient.data() + slot.out.size(),
              sizeof slot.sums);
  slot.sums.check();
  sums_.add(slot.sums);
}

void StageReplica::hand_back(int microbatch) {
  if (first()) return;
  Slot& slot = slot_of(microbatch);
  std::memcpy(slot.in_gradient.data() + slot.in.size(), &slot.sums, sizeof slot.sums);
  const auto bytes = std::as_bytes(std::span(slot.in_gradient));
  slot.in_gradient_leaves = transport_.isend(setup_.previous, kBackwardTag, bytes);
  times_.sent += bytes.size();
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

}  // namespace lockstep
