#include "lockstep/experiment/sweep_directory.h"

#include <fmt/format.h>
#include <poll.h>

#include <filesystem>

#include "lockstep/base/error.h"
#include "lockstep/base/file.h"
#include "lockstep/base/file_lock.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestConfig = 1 << 20;  // bytes

void remove_all(const std::string& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) throw DataError("cannot remove {}: {}", path, error.message());
}

// A directory that holds something else must not be filled. What a sweep leaves that was killed in
// its first moment is nothing else.
void refuse_strangers(const std::string& root) {
  if (SweepDirectory::is_sweep(root)) return;
  std::error_code error;
  for (fs::directory_iterator it(root, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name == "lock" || is_partial_file(name)) continue;
    throw ConfigError("{} is not empty and not a sweep; give another directory with --out", root);
  }
}

// Waits until nobody writes to the run: a process that was killed may take a moment to go.
void await_writers(const RunPaths& run) {
  constexpr int kTries = 100, kMilliseconds = 100;
  std::error_code error;
  if (!fs::exists(run.lock(), error)) return;  // nobody ever did
  for (int i = 0; i < kTries; ++i) {
    if (FileLock::take(run.lock()).held()) return;
    poll(nullptr, 0, kMilliseconds);
  }
  throw ConfigError("process {} is still at the run in {}", FileLock::holder_of(run.lock()),
                    run.root);
}

bool has_text(const std::string& path, const std::string& text) {
  std::error_code error;
  return fs::exists(path, error) && read_text_file(path, kLongestConfig) == text;
}

}  // namespace

bool SweepDirectory::is_sweep(const std::string& root) {
  std::error_code error;
  return fs::is_regular_file(sweep_file(root), error);
}

RunState state_of(const RunPaths& paths) {
  std::error_code error;
  if (fs::is_regular_file(paths.summary(), error)) return RunState::kDone;
  for (fs::directory_iterator it(paths.checkpoints(), error), end; !error && it != end;
       it.increment(error)) {
    if (it->path().extension() == ".ckpt") return RunState::kPartial;
  }
  return RunState::kMissing;
}

std::vector<SweptRun> swept_runs(const std::string& root, const SweepFile& sweep,
                                 const std::vector<Cell>& cells) {
  std::vector<SweptRun> runs;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    for (const std::int64_t seed : sweep.seeds) {
      const std::string stem = fmt::format("{}/cells/{}/seed-{}", root, cells[i].folder, seed);
      const RunPaths paths{stem};
      runs.push_back({i, seed, stem + ".toml", stem + ".log", paths, state_of(paths)});
    }
  }
  return runs;
}

SweepDirectory::SweepDirectory(const std::string& root, const SweepFile& sweep,
                               std::vector<Cell> cells, const std::string& scale, bool again)
    : cells_(std::move(cells)) {
  refuse_strangers(root);
  make_directories(root);
  lock_ = FileLock::take(root + "/lock");
  if (!lock_.held()) throw ConfigError("another process is at the sweep in {}", root);
  runs_ = swept_runs(root, sweep, cells_);
  // All are looked at before any is touched.
  std::vector<std::string> configs;
  std::vector<bool> same;
  std::error_code error;
  for (const SweptRun& run : runs_) {
    configs.push_back(config_of(sweep, cells_[run.cell], run.seed).to_toml());
    same.push_back(has_text(run.config, configs.back()));
    if (same.back() || again || !fs::exists(run.config, error)) continue;
    throw ConfigError(
        "{} was made with other settings than the sweep has now; give another directory with "
        "--out, or throw such runs away with --again",
        run.paths.root);
  }
  write_file(sweep_file(root), to_json(sweep, cells_, scale).dump(1) + "\n");
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    SweptRun& run = runs_[i];
    if (run.state != RunState::kDone) {
      await_writers(run.paths);
      run.state = state_of(run.paths);  // it may have come further meanwhile
    }
    if (!same[i] || run.state == RunState::kMissing) {
      remove_all(run.paths.root);
      run.state = RunState::kMissing;
    }
    if (same[i]) continue;
    make_directories(fs::path(run.config).parent_path().string());
    write_file(run.config, configs[i]);
  }
}

Json to_json(const SweepFile& sweep, const std::vector<Cell>& cells, const std::string& scale) {
  Json axes = Json::array();
  for (const Axis& axis : sweep.axes) {
    Json labels = Json::array();
    for (const AxisPoint& point : axis.points) labels.push_back(point.label);
    axes.push_back({{"name", axis.name}, {"labels", labels}});
  }
  Json list = Json::array();
  for (const Cell& cell : cells) {
    list.push_back(
        {{"labels", cell.labels}, {"folder", cell.folder}, {"settings", to_json(cell.settings)}});
  }
  Json published = Json::array();
  for (const PublishedResult& one : sweep.published) {
    published.push_back({{"at", one.at}, {"mean", one.mean}, {"std", one.std}, {"runs", one.runs}});
  }
  return {{"name", sweep.name},
          {"title", sweep.title},
          {"text", sweep.text},
          {"scale", scale},
          {"metric", to_text(sweep.metric)},
          {"target", sweep.target},
          {"seeds", sweep.seeds},
          {"baseline", sweep.baseline},
          {"axes", std::move(axes)},
          {"cells", std::move(list)},
          {"published", std::move(published)}};
}

}  // namespace lockstep
