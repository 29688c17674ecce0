#include "lockstep/train/checkpoint_folder.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>

#include "lockstep/base/error.h"
#include "lockstep/base/file.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "step-", kSuffix = ".ckpt";

std::optional<std::int64_t> step_of(std::string_view name) {
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return {};
  name.remove_prefix(kPrefix.size());
  name.remove_suffix(std::min(kSuffix.size(), name.size()));
  std::int64_t step = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), step);
  const bool number = error == std::errc() && end == name.data() + name.size() && step >= 0;
  return number ? std::optional(step) : std::nullopt;
}

void remove(const std::string& path) {
  std::error_code error;
  fs::remove(path, error);
  if (error) throw DataError("cannot remove {}: {}", path, error.message());
}

// Every name in the folder; none if there is no such folder.
std::vector<std::string> names_in(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> names;
  if (!fs::exists(folder, error) && !error) return names;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    names.push_back(it->path().filename().string());
  }
  if (error) throw DataError("cannot read the folder {}: {}", folder, error.message());
  return names;
}

}  // namespace

std::string checkpoint_path(const std::string& folder, std::int64_t step) {
  return (fs::path(folder) / fmt::format("{}{:08}{}", kPrefix, step, kSuffix)).string();
}

std::vector<StoredCheckpoint> stored_checkpoints(const std::string& folder) {
  std::vector<StoredCheckpoint> stored;
  for (const std::string& name : names_in(folder)) {
    if (const auto step = step_of(name))
      stored.push_back({*step, (fs::path(folder) / name).string()});
  }
  std::sort(stored.begin(), stored.end(), [](const auto& a, const auto& b) {
    return a.step != b.step ? a.step > b.step : a.path > b.path;
  });
  return stored;
}

void prune_checkpoints(const std::string& folder, std::int64_t step, int keep) {
  LOCKSTEP_CHECK(keep >= 1, "keeps {} checkpoints", keep);
  for (const StoredCheckpoint& stored : stored_checkpoints(folder)) {
    if (stored.step > step || keep-- <= 0) remove(stored.path);
  }
  for (const std::string& name : names_in(folder)) {
    if (is_partial_file(name)) remove((fs::path(folder) / name).string());
  }
}

}  // namespace lockstep
