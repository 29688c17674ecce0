#include "lockstep/sync/agreed_models.h"

#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/error.h"

namespace lockstep {
namespace {

constexpr std::int64_t kMost = 64;  // levels of groups within groups

bool within(std::vector<int> part, std::vector<int> whole) {
  std::ranges::sort(part);
  std::ranges::sort(whole);
  return std::ranges::includes(whole, part);
}

}  // namespace

AgreedModels::AgreedModels(Ranks everybody, std::span<const float> model) {
  agree(everybody, model);
}

std::span<const float> AgreedModels::known_to(const Ranks& members) const {
  for (auto at = agreed_.rbegin(); at != agreed_.rend(); ++at) {
    if (within(members, at->members)) return at->model;
  }
  throw InternalError("these workers have never agreed");
}

void AgreedModels::agree(const Ranks& members, std::span<const float> model) {
  Agreed now{members, {model.begin(), model.end()}};
  std::erase_if(agreed_, [&](const Agreed& old) { return within(old.members, members); });
  agreed_.push_back(std::move(now));
}

void AgreedModels::take_off(const Ranks& members, std::span<float> values) const {
  const auto known = known_to(members);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] -= known[i];
}

void AgreedModels::add_and_agree(const Ranks& members, std::span<float> values) {
  const auto known = known_to(members);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] += known[i];
  agree(members, values);
}

void AgreedModels::state(StateVisitor& visitor) {
  auto models = static_cast<std::int64_t>(agreed_.size());
  visitor.integer("models", models);
  if (models < 1 || models > kMost) throw DataError("a checkpoint has {} agreed models", models);
  agreed_.resize(static_cast<std::size_t>(models), agreed_.front());
  for (std::size_t i = 0; i < agreed_.size(); ++i) {
    StateScope scope(visitor, fmt::format("model{}", i));
    visit_list(scope, "members", agreed_[i].members);
    scope.floats("values", agreed_[i].model);
  }
}

}  // namespace lockstep
