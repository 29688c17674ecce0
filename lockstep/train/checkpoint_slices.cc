#include "lockstep/train/checkpoint_slices.h"

#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/error.h"

namespace lockstep {
namespace {

std::string stage_prefix(std::size_t stage) {
  return fmt::format("stage{}/", stage);
}

// The stage of a name "stage1/name", or −1; `plain` becomes the rest.
int stage_of_name(const std::string& name, std::string& plain) {
  plain = name;
  const auto slash = name.find('/');
  if (!name.starts_with("stage") || slash == std::string::npos) return -1;
  const std::string number = name.substr(5, slash - 5);
  if (number.empty() || number.size() > 6 ||
      !std::ranges::all_of(number, [](char c) { return c >= '0' && c <= '9'; })) {
    return -1;
  }
  plain = name.substr(slash + 1);
  return std::stoi(number);
}

const ValueDigest* find(const ValueDigests& table, const std::string& name) {
  const auto found = std::ranges::find(table, name, &ValueDigest::name);
  return found == table.end() ? nullptr : &*found;
}

class Namer {
 public:
  Namer(const std::vector<ValueDigests>& tables, const StagePlan* plan)
      : tables_(tables),
        plan_(plan),
        stages_(plan == nullptr ? 1 : plan->stages.size()),
        workers_(tables.size() / stages_) {
    LOCKSTEP_CHECK(tables.size() == workers_ * stages_, "{} ranks in {} stages", tables.size(),
                   stages_);
  }

  StoredNames run() {
    for (const ValueDigest& value : tables_.front()) {
      if (parallel_to(&StageShare::params, value.name) ||
          parallel_to(&StageShare::buffers, value.name)) {
        names_.joined.insert(value.name);
      }
    }
    for (std::size_t rank = 0; rank < tables_.size(); ++rank) names_.own.push_back(own_of(rank));
    find_common();
    return std::move(names_);
  }

 private:
  const ValueDigests& table(std::size_t stage, std::size_t worker) const {
    return tables_[stage * workers_ + worker];
  }

  // Has every stage of the first worker a vector of that name, as long as its part?
  bool parallel_to(Range StageShare::*part, const std::string& name) const {
    if (plan_ == nullptr) return false;
    for (std::size_t s = 0; s < stages_; ++s) {
      const ValueDigest* const value = find(table(s, 0), name);
      if (value == nullptr || value->kind != StateKind::kFloats ||
          value->count != (plan_->stages[s].*part).size) {
        return false;
      }
    }
    return true;
  }

  std::map<std::string, std::string> own_of(std::size_t rank) const {
    const std::size_t stage = rank / workers_, worker = rank % workers_;
    std::map<std::string, std::string> own;
    for (const ValueDigest& value : tables_[rank]) {
      if (names_.joined.contains(value.name)) continue;
      const ValueDigest* earlier = nullptr;
      for (std::size_t s = 0; s < stage && earlier == nullptr; ++s) {
        earlier = find(table(s, worker), value.name);
      }
      if (earlier == nullptr) {
        own[value.name] = value.name;
      } else if (!(*earlier == value)) {
        own[value.name] = stage_prefix(stage) + value.name;
      }
    }
    return own;
  }

  // The first worker's that are the same wherever they are. Ranks that only serve have none of what
  // workers have.
  void find_common() {
    using Stored = std::vector<const ValueDigest*>;  // a stage each, of a joined one; else one
    std::map<std::string, Stored> first;
    std::set<std::string> different;
    for (std::size_t worker = 0; worker < workers_; ++worker) {
      std::map<std::string, Stored> here;
      for (std::size_t s = 0; s < stages_; ++s) {
        const std::size_t rank = s * workers_ + worker;
        for (const ValueDigest& value : tables_[rank]) {
          const auto own = names_.own[rank].find(value.name);
          if (names_.joined.contains(value.name)) {
            here[value.name].push_back(&value);
          } else if (own != names_.own[rank].end()) {
            here[own->second].push_back(&value);
          }
        }
      }
      if (worker == 0) first = here;
      for (const auto& [name, stored] : here) {
        const auto known = first.find(name);
        if (known == first.end()) continue;
        const bool equal =
            std::ranges::equal(stored, known->second, [](auto* a, auto* b) { return *a == *b; });
        if (!equal) different.insert(name);
      }
      // What the first has and this one, which trains too, does not, is the first's own.
      if (stages_ == 1) continue;
      for (const auto& [name, stored] : first) {
        if (!here.contains(name)) different.insert(name);
      }
    }
    for (const auto& [name, stored] : first) {
      if (!different.contains(name)) names_.common.insert(name);
    }
  }

  const std::vector<ValueDigests>& tables_;
  const StagePlan* plan_;
  std::size_t stages_, workers_;
  StoredNames names_;
};

}  // namespace

StoredNames stored_names(const std::vector<ValueDigests>& tables, const StagePlan* plan) {
  return Namer(tables, plan).run();
}

std::vector<TakenValue> taken_values(const CheckpointIndex& index, int worker,
                                     const StagePlan* plan, int stage) {
  std::vector<TakenValue> plain, of_stage;
  for (const CheckpointEntry& entry : index.entries) {
    if (entry.rank != kEveryRank && entry.rank != worker) continue;
    TakenValue value{{}, entry.kind, entry.offset, entry.size()};
    const int only = stage_of_name(entry.name, value.name);
    if (only >= 0) {
      if (plan != nullptr && only == stage) of_stage.push_back(std::move(value));
      continue;
    }
    if (plan != nullptr && entry.kind == StateKind::kFloats) {
      const StageShare& share = plan->stages[static_cast<std::size_t>(stage)];
      const Range* part = nullptr;
      if (entry.count == plan->params)
        part = &share.params;
      else if (entry.count == plan->buffers)
        part = &share.buffers;
      if (part != nullptr) {
        value.offset += part->begin * sizeof(float);
        value.size = part->size * sizeof(float);
      }
    }
    plain.push_back(std::move(value));
  }
  std::erase_if(plain, [&](const TakenValue& value) {
    return std::ranges::any_of(of_stage,
                               [&](const TakenValue& own) { return own.name == value.name; });
  });
  plain.insert(plain.end(), of_stage.begin(), of_stage.end());
  return plain;
}

bool has_values_of(const CheckpointIndex& index, int stage) {
  const std::string prefix = stage_prefix(static_cast<std::size_t>(stage));
  return std::ranges::any_of(
      index.entries, [&](const CheckpointEntry& entry) { return entry.name.starts_with(prefix); });
}

}  // namespace lockstep
