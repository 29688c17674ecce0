#include "lockstep/sync/served.h"

#include <algorithm>
#include <utility>

#include "lockstep/collective/collectives.h"

namespace lockstep {

void ServedStrategy::prepare(const SyncSetup& setup) {
  LOCKSTEP_CHECK(setup.server != nullptr, "no server");
  replica_ = &setup.replica;
  communicator_ = &setup.communicator;
  server_ = setup.server;
}

ServerHeader ServedStrategy::push(SyncStep& step, ServerHeader header) {
  const auto answers = send_gradients(step, header, replica_->params());
  take_up(answers);
  return answers.front();
}

ServerHeader ServedStrategy::hand_in(SyncStep& step, ServerHeader header) {
  return send_gradients(step, header, {}).front();
}

void ServedStrategy::take(const ServerHeader& header) {
  take_up(exchange(header, {}, replica_->params()));
}

std::span<const ServerHeader> ServedStrategy::send_gradients(SyncStep& step, ServerHeader header,
                                                             std::span<float> into) {
  part();
  header.set(step.rates);
  header.form = Form::kChange;
  // What has overflowed would spoil the server's parameters for all.
  if (overflowed(*replica_)) std::ranges::fill(replica_->grads(), 0.0f);
  return exchange(header, replica_->grads(), into);
}

// New parameters have come. They are as old as the oldest of their slices.
void ServedStrategy::take_up(std::span<const ServerHeader> answers) {
  replica_->apply_update();
  std::int64_t age = 0;
  bool rejected = false;
  for (const ServerHeader& answer : answers) {
    age = std::max(age, answer.staleness);
    rejected |= answer.rejected != 0;
  }
  staleness_.add(age, rejected);
}

std::span<const ServerHeader> ServedStrategy::exchange(const ServerHeader& header,
                                                       std::span<const float> values,
                                                       std::span<float> into) {
  const auto answers = server_->ask(header, values, into);
  account();
  return answers;
}

void ServedStrategy::meet() {
  meet(replica_->params());
  replica_->apply_update();
}

void ServedStrategy::meet(std::span<float> model) {
  wait_for_all();
  exchange({.kind = kPull}, {}, model);
  wait_for_all();  // what a worker that goes on pushes must not show in what another one takes
  met_ = true;
}

void ServedStrategy::wait_for_all() {
  Transport& transport = communicator_->group().transport();
  const double began = transport.now();
  barrier(communicator_->group());
  communicator_->account().waiting += transport.now() - began;
}

// Everything asked of the server since the last call.
void ServedStrategy::account() {
  const ServerTraffic& now = server_->traffic();
  const ServerTraffic before = std::exchange(accounted_, now);
  const double held = now.held - before.held;
  Traffic& account = communicator_->account();
  account.sent += now.sent - before.sent;
  account.received += now.received - before.received;
  account.rounds += 2 * (now.rounds - before.rounds);  // there and back
  account.waiting += held;
  account.plain += now.plain - before.plain;
  const double encoding = now.encoding - before.encoding, decoding = now.decoding - before.decoding;
  account.encoding += encoding;
  account.decoding += decoding;
  account.communicating += now.seconds - before.seconds - held - encoding - decoding;
}

void ServedStrategy::state(StateVisitor& visitor) {
  visit_list(visitor, "staleness", staleness_.pushes);
  visitor.integer("rejected", staleness_.rejected);
}

}  // namespace lockstep
