#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "lockstep/base/error.h"
#include "lockstep/base/json_lines.h"
#include "lockstep/train/checkpoint.h"
#include "lockstep/train/checkpoint_folder.h"
#include "lockstep/train/exchange.h"

namespace lockstep {
namespace {

// A file that rank 0 has read and believes.
struct Opened {
  std::string path;
  std::vector<std::byte> bytes;
  CheckpointContent content;  // points into bytes
  std::vector<std::string> passed_over;

  std::span<const std::byte> part(int rank) const {
    const auto part = content.index.part(rank);
    return content.payload.subspan(part.begin, part.size);
  }
};

Opened open_newest(const std::string& folder) {
  Opened opened;
  for (const StoredCheckpoint& stored : stored_checkpoints(folder)) {
    try {
      opened.bytes = read_file(stored.path, std::numeric_limits<std::ptrdiff_t>::max());
      opened.content = parse_checkpoint(opened.bytes, stored.path);
      opened.path = stored.path;
      return opened;
    } catch (const DataError& error) {
      opened.passed_over.emplace_back(error.what());
    }
  }
  if (!opened.passed_over.empty()) {
    throw DataError("no checkpoint in {} can be used: {}", folder,
                    fmt::join(opened.passed_over, "; "));
  }
  return opened;
}

std::string workers(int from, int to) {  // from … to−1
  return to - from == 1 ? fmt::format("worker {}", from)
                        : fmt::format("workers {} to {}", from, to - 1);
}

std::string describe_change(int old, int now) {
  if (old == now) return {};
  const std::string numbers =
      fmt::format("saved with {} worker{}, resumed with {}", old, old == 1 ? "" : "s", now);
  if (now < old) {
    return fmt::format("{}: what {} had of {} own is dropped", numbers, workers(now, old),
                       old - now == 1 ? "its" : "their");
  }
  return fmt::format("{}: {} begin{} with the state of {}", numbers, workers(old, now),
                     now - old == 1 ? "s" : "", workers(0, std::min(old, now - old)));
}

// Of a model that is not cut: what is common to all goes to everybody at once.
void share_parts(Group& group, const Opened& opened, const CheckpointIndex& index, int old,
                 std::vector<TakenValue>& taken, std::vector<std::byte>& bytes) {
  const bool root = group.index() == 0;
  if (root) {
    const auto common = opened.part(kEveryRank);
    bytes.assign(common.begin(), common.end());
  }
  broadcast_bytes(group, bytes, 0);

  group.step("the ranks' own values", 0, 1);
  const auto common = index.part(kEveryRank), own = index.part(group.index() % old);
  bytes.resize(common.size + own.size);
  const auto mine = std::span(bytes).subspan(common.size);
  for (TakenValue& value : taken) {  // from places in the payload to places in these bytes
    const bool shared = value.offset + value.size <= common.begin + common.size;
    value.offset = shared ? value.offset - common.begin : value.offset - own.begin + common.size;
  }
  if (!root) return group.receive_bytes(0, mine);
  std::ranges::copy(opened.part(0), mine.begin());
  Outgoing sending;
  for (int member = 1; member < group.size(); ++member) {
    sending.join(group.send_bytes(member, opened.part(member % old)));
  }
  sending.wait();
}

}  // namespace

std::vector<std::string> LoadedCheckpoint::restore(const ShowState& show) const {
  std::vector<StateValue> values;
  for (const TakenValue& value : taken_) {
    values.push_back({value.name, value.kind, std::span(bytes_).subspan(value.offset, value.size)});
  }
  auto unused = restore_state(values, path_, show);
  if (of_stage_) unused.clear();
  return unused;
}

std::optional<LoadedCheckpoint> load_checkpoint(Group& group, const std::string& folder,
                                                OtherWorkers other, const StagePlan* plan) {
  const Operation operation(group.transport(), "loading a checkpoint");
  const bool root = group.index() == 0;
  Opened opened;
  if (root) opened = open_newest(folder);

  std::string text = Json{{"path", opened.path},
                          {"passed_over", opened.passed_over},
                          {"header", opened.content.header},
                          {"payload", opened.content.payload.size()}}
                         .dump(-1, ' ', false, Json::error_handler_t::replace);
  broadcast_text(group, text, 0);
  const Json told = Json::parse(text);

  LoadedCheckpoint loaded;
  loaded.path_ = told["path"].get<std::string>();
  if (loaded.path_.empty()) return {};
  loaded.passed_over_ = told["passed_over"].get<std::vector<std::string>>();
  loaded.index_ = parse_checkpoint_header(told["header"].get<std::string>(),
                                          told["payload"].get<std::size_t>(), loaded.path_);
  const int stages = plan == nullptr ? 1 : static_cast<int>(plan->stages.size());
  const int workers = group.size() / stages, old = loaded.meta().workers;
  loaded.change_ = describe_change(old, workers);
  if (!loaded.change_.empty() && other == OtherWorkers::kRefuse) {
    throw ConfigError(
        "{} is of {} ranks, workers and servers together, this run has {}; only synchronous "
        "training without server ranks and compression goes on with another number",
        loaded.path_, old, workers);
  }

  const auto taken_by = [&](int member) {
    return taken_values(loaded.index_, member % workers % old, plan, member / workers);
  };
  loaded.taken_ = taken_by(group.index());
  loaded.of_stage_ = stages > 1;
  loaded.newcomer_ =
      group.index() % workers >= old ||
      (group.index() >= workers && !has_values_of(loaded.index_, group.index() / workers));
  if (plan == nullptr) {
    share_parts(group, opened, loaded.index_, old, loaded.taken_, loaded.bytes_);
    return loaded;
  }
  group.step("the ranks' own values", 0, 1);
  std::size_t size = 0;
  for (TakenValue& value : loaded.taken_) size += value.size;
  loaded.bytes_.resize(size);
  const auto bytes_for = [&](int member, std::vector<std::byte>& bytes) {
    bytes.clear();
    for (const TakenValue& value : taken_by(member)) {
      const auto from = opened.content.payload.subspan(value.offset, value.size);
      bytes.insert(bytes.end(), from.begin(), from.end());
    }
  };
  if (root) {
    std::vector<std::byte> bytes;
    for (int member = 1; member < group.size(); ++member) {
      bytes_for(member, bytes);
      group.send_bytes(member, bytes).wait();
    }
    bytes_for(0, loaded.bytes_);
  } else {
    group.receive_bytes(0, loaded.bytes_);
  }
  std::size_t at = 0;
  for (TakenValue& value : loaded.taken_) {
    value.offset = at;
    at += value.size;
  }
  return loaded;
}

}  // namespace lockstep
