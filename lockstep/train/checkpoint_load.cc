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

}  // namespace

std::vector<std::string> LoadedCheckpoint::restore(const ShowState& show) const {
  std::vector<StateValue> values = index_.values(kEveryRank, common_);
  for (StateValue& value : index_.values(source_, own_)) values.push_back(std::move(value));
  return restore_state(values, path_, show);
}

std::optional<LoadedCheckpoint> load_checkpoint(Group& group, const std::string& folder,
                                                OtherWorkers other) {
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
  const int old = loaded.meta().workers;
  loaded.change_ = describe_change(old, group.size());
  if (!loaded.change_.empty() && other == OtherWorkers::kRefuse) {
    throw ConfigError(
        "{} is of {} ranks, workers and servers together, this run has {}; only synchronous "
        "training without server ranks and compression goes on with another number",
        loaded.path_, old, group.size());
  }

  if (root) {
    const auto common = opened.part(kEveryRank);
    loaded.common_.assign(common.begin(), common.end());
  }
  broadcast_bytes(group, loaded.common_, 0);

  group.step("the ranks' own values", 0, 1);
  loaded.source_ = group.index() % old;
  loaded.own_.resize(loaded.index_.part(loaded.source_).size);
  if (!root) {
    group.receive_bytes(0, loaded.own_);
    return loaded;
  }
  const auto own = opened.part(loaded.source_);
  std::copy(own.begin(), own.end(), loaded.own_.begin());
  Outgoing sending;
  for (int member = 1; member < group.size(); ++member) {
    sending.join(group.send_bytes(member, opened.part(member % old)));
  }
  sending.wait();
  return loaded;
}

}  // namespace lockstep
