#include <filesystem>
#include <functional>

#include "lockstep/base/error.h"
#include "lockstep/base/json_lines.h"
#include "lockstep/train/checkpoint.h"
#include "lockstep/train/checkpoint_folder.h"
#include "lockstep/train/checkpoint_slices.h"
#include "lockstep/train/exchange.h"

namespace lockstep {
namespace {

ValueDigests digests_of(const ShowState& show) {
  ValueDigests digests;
  read_state(show, [&](const StateValue& value) {
    digests.push_back({value.name, value.kind, value.count(), to_hex(sha256(value.bytes))});
  });
  return digests;
}

std::string to_text(const ValueDigests& digests) {
  Json list = Json::array();
  for (const auto& d : digests) list.push_back({d.name, kind_name(d.kind), d.count, d.sha256});
  return list.dump();
}

ValueDigests digests_from(const std::string& text) {
  ValueDigests digests;
  for (const Json& d : Json::parse(text)) {
    digests.push_back({d[0].get<std::string>(), *kind_named(d[1].get<std::string>()),
                       d[2].get<std::size_t>(), d[3].get<std::string>()});
  }
  return digests;
}

// Everybody learns what the first rank has decided.
void broadcast_names(Group& group, bool cut, StoredNames& names) {
  if (!cut) names.own.clear();  // every value is stored under its own name
  std::string text =
      Json{{"joined", names.joined}, {"common", names.common}, {"own", names.own}}.dump();
  broadcast_text(group, text, 0);
  const Json told = Json::parse(text);
  names.joined = told["joined"].get<std::set<std::string>>();
  names.common = told["common"].get<std::set<std::string>>();
  names.own = told["own"].get<std::vector<std::map<std::string, std::string>>>();
}

// A checkpoint comes in portions, one behind the other: of what all workers have in common and then
// of each worker, first the vectors that stages hold parts of, then everything else. Ranks send the
// values of a portion in the order in which they show them.
struct Portion {
  int worker = kEveryRank;
  bool joined = false;
};

class Saving {
 public:
  Saving(Group& group, const ShowState& show, const StagePlan* plan)
      : group_(group),
        show_(show),
        stages_(plan == nullptr ? 1 : static_cast<int>(plan->stages.size())),
        workers_(group.size() / stages_) {
    const auto texts = gather_texts(group, to_text(digests_of(show)), 0);
    for (const std::string& text : texts) tables_.push_back(digests_from(text));
    if (leads()) names_ = stored_names(tables_, plan);
    broadcast_names(group, plan != nullptr, names_);
  }

  bool leads() const { return group_.index() == 0; }
  int workers() const { return workers_; }

  void send_values() {
    for (const Portion& portion : portions()) {
      if (sender(portion) != group_.index() % workers_) continue;
      read_state(show_, [&](const StateValue& value) {
        if (!stored_name(group_.index(), value.name, portion).empty()) {
          group_.send_bytes(0, value.bytes).wait();
        }
      });
    }
  }

  std::vector<CheckpointEntry> entries() const {
    std::vector<CheckpointEntry> entries;
    for (const Portion& portion : portions()) {
      for_values(portion, [&](int rank, const ValueDigest& value, const std::string& name) {
        const bool goes_on = portion.joined && rank >= workers_;
        std::size_t count = value.count;
        if (goes_on) return;
        for (int stage = 1; portion.joined && stage < stages_; ++stage) {
          count += find(rank + stage * workers_, value.name).count;
        }
        entries.push_back({name, value.kind, count, portion.worker});
      });
    }
    return entries;
  }

  void write(CheckpointWriter& writer) {
    for (const Portion& portion : portions()) {
      if (sender(portion) == 0) {
        read_state(show_, [&](const StateValue& value) {
          if (stored_name(0, value.name, portion).empty()) return;
          writer.append(value.bytes);
          if (portion.joined) append_parts(0, value.name, writer);
        });
      }
      for_values(portion, [&](int rank, const ValueDigest& value, const std::string&) {
        if (rank == 0 || (portion.joined && rank >= workers_)) return;
        append_from(rank, value, writer);
        if (portion.joined) append_parts(rank, value.name, writer);
      });
    }
  }

 private:
  std::vector<Portion> portions() const {
    std::vector<Portion> all;
    for (int worker = kEveryRank; worker < workers_; ++worker) {
      all.push_back({worker, true});
      all.push_back({worker, false});
    }
    return all;
  }
  static int sender(const Portion& portion) { return std::max(portion.worker, 0); }

  // Empty: it does not belong to the portion.
  std::string stored_name(int rank, const std::string& value, const Portion& portion) const {
    std::string name;
    if (names_.joined.contains(value)) {
      if (portion.joined) name = value;
    } else if (!portion.joined && names_.own.empty()) {
      name = value;
    } else if (!portion.joined) {
      const auto& own = names_.own[static_cast<std::size_t>(rank)];
      if (const auto found = own.find(value); found != own.end()) name = found->second;
    }
    if (names_.common.contains(name) != (portion.worker == kEveryRank)) return {};
    return name;
  }

  // The values of a portion, stage after stage, as the first rank knows of them.
  void for_values(
      const Portion& portion,
      const std::function<void(int rank, const ValueDigest&, const std::string&)>& use) const {
    for (int stage = 0; stage < stages_; ++stage) {
      const int rank = stage * workers_ + sender(portion);
      for (const ValueDigest& value : tables_[static_cast<std::size_t>(rank)]) {
        const std::string name = stored_name(rank, value.name, portion);
        if (!name.empty()) use(rank, value, name);
      }
    }
  }

  const ValueDigest& find(int rank, const std::string& name) const {
    const auto& table = tables_[static_cast<std::size_t>(rank)];
    return *std::ranges::find(table, name, &ValueDigest::name);
  }

  void append_from(int rank, const ValueDigest& value, CheckpointWriter& writer) {
    arrived_.resize(value.count * element_size(value.kind));
    group_.receive_bytes(rank, arrived_);
    writer.append(arrived_);
  }
  // Of the later stages.
  void append_parts(int rank, const std::string& name, CheckpointWriter& writer) {
    for (int stage = 1; stage < stages_; ++stage) {
      const int holder = rank + stage * workers_;
      append_from(holder, find(holder, name), writer);
    }
  }

  Group& group_;
  const ShowState& show_;
  int stages_, workers_;
  std::vector<ValueDigests> tables_;  // of all ranks, on the first one
  StoredNames names_;
  std::vector<std::byte> arrived_;
};

}  // namespace

std::string save_checkpoint(Group& group, const std::string& folder, CheckpointMeta meta,
                            const ShowState& show, int keep, const StagePlan* plan) {
  const Operation operation(group.transport(), "saving a checkpoint");
  const std::string path = checkpoint_path(folder, meta.step);
  Saving saving(group, show, plan);
  group.step("values", 0, 1);
  if (!saving.leads()) {
    saving.send_values();
    return path;
  }
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw DataError("cannot make the folder {}: {}", folder, error.message());
  const std::int64_t step = meta.step;
  meta.workers = saving.workers();
  CheckpointWriter writer(path, {std::move(meta), saving.entries()});
  saving.write(writer);
  writer.commit();
  prune_checkpoints(folder, step, keep);
  return path;
}

}  // namespace lockstep
