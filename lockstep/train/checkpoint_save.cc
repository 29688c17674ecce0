#include <filesystem>
#include <set>
#include <tuple>

#include "lockstep/base/error.h"
#include "lockstep/base/json_lines.h"
#include "lockstep/train/checkpoint.h"
#include "lockstep/train/checkpoint_folder.h"
#include "lockstep/train/exchange.h"

namespace lockstep {
namespace {

// What a rank tells about a value before anybody sends it.
struct Digest {
  std::string name;
  StateKind kind;
  std::size_t count;
  std::string sha256;
  bool operator==(const Digest&) const = default;
};
using Digests = std::vector<Digest>;

Digests digests_of(const ShowState& show) {
  Digests digests;
  read_state(show, [&](const StateValue& value) {
    digests.push_back({value.name, value.kind, value.count(), to_hex(sha256(value.bytes))});
  });
  return digests;
}

std::string to_text(const Digests& digests) {
  Json list = Json::array();
  for (const Digest& d : digests) list.push_back({d.name, kind_name(d.kind), d.count, d.sha256});
  return list.dump();
}

Digests digests_from(const std::string& text) {
  Digests digests;
  for (const Json& d : Json::parse(text)) {
    digests.push_back({d[0].get<std::string>(), *kind_named(d[1].get<std::string>()),
                       d[2].get<std::size_t>(), d[3].get<std::string>()});
  }
  return digests;
}

using Names = std::set<std::string>;

// The names of the first rank's values that are the same wherever they are. Ranks that only serve
// have none of what workers have.
Names common_names(const std::vector<Digests>& tables) {
  std::map<std::string, const Digest*> first;
  for (const Digest& digest : tables.front()) first[digest.name] = &digest;
  Names names;
  for (const auto& [name, digest] : first) names.insert(name);
  for (const Digests& table : tables) {
    for (const Digest& digest : table) {
      const auto known = first.find(digest.name);
      if (known != first.end() && !(digest == *known->second)) names.erase(digest.name);
    }
  }
  return names;
}

CheckpointIndex make_index(CheckpointMeta meta, const std::vector<Digests>& tables,
                           const Names& common) {
  CheckpointIndex index{std::move(meta), {}};
  const auto add = [&](const Digest& d, int rank) {
    index.entries.push_back({d.name, d.kind, d.count, rank});
  };
  for (const Digest& d : tables.front()) {
    if (common.contains(d.name)) add(d, kEveryRank);
  }
  for (std::size_t rank = 0; rank < tables.size(); ++rank) {
    for (const Digest& d : tables[rank]) {
      if (!common.contains(d.name)) add(d, static_cast<int>(rank));
    }
  }
  return index;
}

}  // namespace

std::string save_checkpoint(Group& group, const std::string& folder, CheckpointMeta meta,
                            const ShowState& show, int keep) {
  const Operation operation(group.transport(), "saving a checkpoint");
  const std::string path = checkpoint_path(folder, meta.step);
  const std::vector<std::string> texts = gather_texts(group, to_text(digests_of(show)), 0);

  Names common;
  std::vector<Digests> tables;
  for (const std::string& text : texts) tables.push_back(digests_from(text));
  if (group.index() == 0) common = common_names(tables);
  std::string text = Json(common).dump();
  broadcast_text(group, text, 0);
  common = Json::parse(text).get<Names>();

  group.step("values", 0, 1);
  if (group.index() != 0) {
    read_state(show, [&](const StateValue& value) {
      if (!common.contains(value.name)) group.send_bytes(0, value.bytes).wait();
    });
    return path;
  }

  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw DataError("cannot make the folder {}: {}", folder, error.message());
  const std::int64_t step = meta.step;
  meta.workers = group.size();
  const CheckpointIndex index = make_index(std::move(meta), tables, common);
  CheckpointWriter writer(path, index);
  for (const bool shared : {true, false}) {
    read_state(show, [&](const StateValue& value) {
      if (common.contains(value.name) == shared) writer.append(value.bytes);
    });
  }
  std::vector<std::byte> arrived;
  for (const CheckpointEntry& entry : index.entries) {
    if (entry.rank <= 0) continue;  // rank 0's own and what all have are written
    arrived.resize(entry.size());
    group.receive_bytes(entry.rank, arrived);
    writer.append(arrived);
  }
  writer.commit();
  prune_checkpoints(folder, step, keep);
  return path;
}

}  // namespace lockstep
