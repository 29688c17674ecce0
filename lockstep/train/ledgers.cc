#include "lockstep/train/ledgers.h"

#include <cstring>
#include <utility>

#include "lockstep/base/error.h"
#include "lockstep/collective/collectives.h"

namespace lockstep {
namespace {

constexpr std::pair<const char*, double WorkerLedger::*> kValues[] = {
    {"steps", &WorkerLedger::steps},         {"loading", &WorkerLedger::loading},
    {"computing", &WorkerLedger::computing}, {"forward", &WorkerLedger::forward},
    {"updating", &WorkerLedger::updating},   {"waiting", &WorkerLedger::waiting},
    {"idling", &WorkerLedger::idling},       {"communicating", &WorkerLedger::communicating},
    {"sent", &WorkerLedger::sent},           {"received", &WorkerLedger::received},
    {"rounds", &WorkerLedger::rounds},       {"encoding", &WorkerLedger::encoding},
    {"decoding", &WorkerLedger::decoding},   {"beside", &WorkerLedger::beside},
    {"hidden", &WorkerLedger::hidden},       {"passed", &WorkerLedger::passed},
    {"plain", &WorkerLedger::plain}};

}  // namespace

void WorkerLedger::add(const Traffic& now, const Traffic& before) {
  waiting += now.waiting - before.waiting;
  communicating += now.communicating - before.communicating;
  sent += static_cast<double>(now.sent - before.sent);
  received += static_cast<double>(now.received - before.received);
  rounds += static_cast<double>(now.rounds - before.rounds);
  encoding += now.encoding - before.encoding;
  decoding += now.decoding - before.decoding;
  beside += now.beside - before.beside;
  hidden += now.hidden - before.hidden;
  plain += static_cast<double>(now.plain - before.plain);
}

void WorkerLedger::state(StateVisitor& visitor) {
  for (const auto& [name, value] : kValues) visitor.real(name, this->*value);
}

WorkerLedger sum_of(const std::vector<WorkerLedger>& ledgers) {
  WorkerLedger all;
  for (const WorkerLedger& one : ledgers) {
    for (const auto& [name, value] : kValues) all.*value += one.*value;
  }
  return all;
}

std::vector<WorkerLedger> gather_ledgers(Group& group, const WorkerLedger& mine) {
  std::vector<WorkerLedger> all;
  for (const auto& bytes : all_gather_bytes(group, std::as_bytes(std::span(&mine, 1)))) {
    if (bytes.size() != sizeof mine) throw CommError("a rank sent an account of another size");
    std::memcpy(&all.emplace_back(), bytes.data(), sizeof mine);
  }
  return all;
}

double idle_share(const std::vector<WorkerLedger>& ledgers) {
  const WorkerLedger all = sum_of(ledgers);
  const double passes = all.computing + all.idling;
  return passes > 0 ? all.idling / passes : 0;
}

StalenessRecord sum_over(Group& group, const StalenessRecord& mine) {
  std::vector<std::int64_t> words = mine.pushes;
  words.push_back(mine.rejected);
  StalenessRecord sum;
  for (const auto& bytes : all_gather_bytes(group, std::as_bytes(std::span(words)))) {
    std::vector<std::int64_t> theirs(bytes.size() / sizeof(std::int64_t));
    if (theirs.empty()) throw CommError("a rank sent an empty account");
    std::memcpy(theirs.data(), bytes.data(), theirs.size() * sizeof(std::int64_t));
    sum.rejected += theirs.back();
    theirs.pop_back();
    if (sum.pushes.size() < theirs.size()) sum.pushes.resize(theirs.size());
    for (std::size_t i = 0; i < theirs.size(); ++i) sum.pushes[i] += theirs[i];
  }
  return sum;
}

}  // namespace lockstep
