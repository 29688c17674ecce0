#include "lockstep/train/run_directory.h"

#include <filesystem>
#include <sstream>

#include "lockstep/base/error.h"
#include "lockstep/base/file.h"
#include "lockstep/base/json_lines.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

constexpr int kMostNumbers = 1'000'000;

// "runs/a/" and "runs/a" are one directory, and should read alike in messages.
std::string tidy(std::string root) {
  while (root.size() > 1 && root.ends_with('/')) root.pop_back();
  if (root.empty()) throw ConfigError("the run directory has an empty name");
  return root;
}

// Nothing but what a run that was killed before its first line may have left.
bool is_empty(const std::string& root) {
  std::error_code error;
  bool empty = true;
  for (fs::directory_iterator it(root, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    empty = empty && (name == "lock" || is_partial_file(name));
  }
  if (error) throw DataError("cannot read the directory {}: {}", root, error.message());
  return empty;
}

void require_free(const std::string& root) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(root, error))) return;
  if (!fs::is_directory(root, error)) {
    throw ConfigError("{} is not a directory; give another with --out", root);
  }
  if (is_run(root)) {
    throw ConfigError(
        "{0} holds a run already; go on with it by --resume {0}, or give another directory with "
        "--out",
        root);
  }
  if (!is_empty(root)) {
    throw ConfigError("{} is not empty and not a run; give another directory with --out", root);
  }
}

}  // namespace

bool is_run(const std::string& root) {
  std::error_code error;
  return fs::is_regular_file(RunPaths{root}.config(), error);
}

RunPaths find_run(const std::string& root) {
  const std::string tidied = tidy(root);
  std::error_code error;
  if (!fs::exists(tidied, error)) throw ConfigError("there is no run {}", tidied);
  if (!is_run(tidied)) throw ConfigError("{} is not a run: it has no config.toml", tidied);
  return {tidied};
}

RunDirectory::RunDirectory(const std::string& root)
    : paths_{root}, lock_(FileLock::take(paths_.lock())) {
  if (lock_.held()) return;
  const std::string owner = FileLock::holder_of(paths_.lock());
  throw ConfigError("another run{} is writing to {}; wait for its end, or give another --out",
                    owner.empty() ? "" : fmt::format(" (process {})", owner), root);
}

RunDirectory RunDirectory::create(const std::string& root, const std::string& config) {
  const std::string tidied = tidy(root);
  require_free(tidied);
  make_directories(tidied);
  RunDirectory run(tidied);
  require_free(tidied);  // another run may have come and gone before the lock was ours
  make_directories(run.paths().checkpoints());
  write_file(run.paths().config(), config);
  return run;
}

RunDirectory RunDirectory::create_numbered(const std::string& parent, const std::string& stem,
                                           const std::string& config) {
  make_directories(parent);
  for (int number = 1; number <= kMostNumbers; ++number) {
    const std::string root = (fs::path(parent) / fmt::format("{}-{}", stem, number)).string();
    std::error_code error;
    // Only one of two runs that begin at once makes the directory; the other takes the next.
    if (fs::create_directory(root, error)) return create(root, config);
    if (error && error != std::errc::file_exists) {
      throw DataError("cannot make the directory {}: {}", root, error.message());
    }
  }
  throw ConfigError("{} has {} runs called {}; give another directory with --out", parent,
                    kMostNumbers, stem);
}

RunDirectory RunDirectory::resume(const std::string& root) {
  RunDirectory run(find_run(root).root);
  make_directories(run.paths().checkpoints());
  return run;
}

void cut_metrics(const std::string& path, std::int64_t step, bool ended) {
  std::error_code error;
  if (!fs::exists(path, error)) return;
  std::ostringstream kept;
  JsonLines lines(kept);
  for (const Json& line : read_json_lines(path)) {
    const auto at = line.find("step");
    const bool beyond =
        at != line.end() && at->is_number() && at->get<double>() > static_cast<double>(step);
    const bool again = ended && at != line.end() && *at == step &&
                       (line.contains("validation_loss") || line.contains("test_loss"));
    if (!beyond && !again) lines.write(line);
  }
  write_file(path, kept.str());
}

}  // namespace lockstep
