#include "lockstep/train/whole_model.h"

#include "lockstep/base/json_lines.h"
#include "lockstep/base/state_store.h"
#include "lockstep/train/common_start.h"
#include "lockstep/train/exchange.h"

namespace lockstep {
namespace {

constexpr Tag kWholeTag = 50;

// What a model keeps beside its vectors: counters and the like, a few bytes each.
std::string state_text(Replica& replica) {
  Json values = Json::array();
  read_state([&](StateVisitor& visitor) { replica.state(visitor); },
             [&](const StateValue& value) {
               const auto* const bytes = reinterpret_cast<const unsigned char*>(value.bytes.data());
               values.push_back({value.name, kind_name(value.kind),
                                 std::vector<int>(bytes, bytes + value.bytes.size())});
             });
  return values.dump();
}

void restore_texts(const std::vector<std::string>& texts, Replica& whole) {
  std::vector<std::vector<std::byte>> memory;
  std::vector<StateValue> values;
  for (const std::string& text : texts) {
    for (const Json& value : Json::parse(text)) {
      auto& bytes = memory.emplace_back();
      for (const int byte : value[2].get<std::vector<int>>()) bytes.push_back(std::byte(byte));
      values.push_back({value[0], *kind_named(value[1].get<std::string>()), {}});
    }
  }
  for (std::size_t i = 0; i < values.size(); ++i) values[i].bytes = memory[i];
  restore_state(values, "a stage", [&](StateVisitor& visitor) { whole.state(visitor); });
}

}  // namespace

WholeModel whole_model(Learner& learner, const Job& job) {
  Seat& seat = learner.seat();
  const StagePlan* const plan = seat.plan();
  Replica& own = learner.replica();
  if (plan == nullptr) return seat.whole().rank() == 0 ? WholeModel(WholeModel(), &own) : nullptr;
  if (learner.group().index() != 0) return nullptr;  // the first worker's stages are enough

  std::vector<int> ranks;
  for (int stage = 0; seat.rank_of(stage) >= 0; ++stage) ranks.push_back(seat.rank_of(stage));
  Group stages(seat.whole(), std::move(ranks), kWholeTag);
  const Operation operation(seat.whole(), "putting the model together");
  const auto texts = gather_texts(stages, state_text(own), 0);
  if (stages.index() != 0) {
    stages.send(0, own.params()).wait();
    stages.send(0, own.buffers()).wait();
    return nullptr;
  }
  WholeModel whole = make_replica(seat.whole(), job);
  LOCKSTEP_CHECK(whole->params().size() == plan->params, "{} parameters in stages of {}",
                 plan->params, whole->params().size());
  std::ranges::copy(own.params(), whole->params().begin());
  std::ranges::copy(own.buffers(), whole->buffers().begin());
  for (int i = 1; i < stages.size(); ++i) {
    const StageShare& share = plan->stages[static_cast<std::size_t>(i)];
    stages.receive(i, slice(whole->params(), share.params));
    stages.receive(i, slice(whole->buffers(), share.buffers));
  }
  restore_texts(texts, *whole);
  whole->apply_update();
  return whole;
}

}  // namespace lockstep
