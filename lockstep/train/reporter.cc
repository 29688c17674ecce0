#include "lockstep/train/reporter.h"

#include <fmt/format.h>

#include <ctime>

#include "lockstep/base/text.h"

namespace lockstep {
namespace {

double wall_clock() {
  std::timespec now{};
  std::timespec_get(&now, TIME_UTC);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

Reporter::Reporter(const RunPaths& paths, std::int64_t total, std::int64_t done, bool quiet)
    : metrics_(paths.metrics(), done > 0 ? JsonLines::Open::kAppend : JsonLines::Open::kTruncate),
      events_(paths.root, wall_clock(), done > 0 ? std::optional(done) : std::nullopt),
      log_(paths.log()),
      progress_("training", static_cast<std::uint64_t>(total)),
      quiet_(quiet) {}

void Reporter::write(const Standing& standing, const Tallies& tallies, const std::string& prefix,
                     const StalenessRecord* staleness) {
  Json line{{"step", standing.step},
            {"epoch", standing.epoch},
            {"samples", standing.samples},
            {"bytes", standing.bytes},
            {"seconds", standing.seconds},
            {prefix + "loss", tallies.mean_loss()},
            {prefix + "accuracy", tallies.accuracy()},
            {"lr", standing.lr}};
  if (staleness != nullptr) {
    line["staleness"] = staleness->pushes;
    line["rejected"] = staleness->rejected;
  }
  metrics_.write(line);
  const std::string group = prefix.empty() ? "train" : prefix.substr(0, prefix.size() - 1);
  std::vector<std::pair<std::string, double>> scalars{{group + "/loss", tallies.mean_loss()},
                                                      {group + "/accuracy", tallies.accuracy()}};
  if (prefix.empty()) scalars.emplace_back("learning_rate", standing.lr);
  events_.write(standing.step, wall_clock(), scalars);
}

void Reporter::trained(const Standing& standing, const Tallies& tallies,
                       const StalenessRecord* staleness) {
  last_ = tallies;
  seconds_ = standing.seconds;
  write(standing, tallies, "", staleness);
}

void Reporter::validated(const Standing& standing, const Tallies& tallies, const std::string& on) {
  seconds_ = standing.seconds;
  write(standing, tallies, on + "_");
  say(fmt::format(
      "epoch {:6.2f}  step {:>7}  {:>8.1f} s  loss {:.4f}  train {:5.2f} %  {} {:5.2f} %",
      standing.epoch, standing.step, standing.seconds, last_.mean_loss(), 100 * last_.accuracy(),
      on, 100 * tallies.accuracy()));
}

void Reporter::alive(const Standing& standing) {
  if (quiet_) return;
  if (first_.step == 0) first_ = standing;
  const double seconds = standing.seconds - first_.seconds;
  std::string note;
  if (last_.labels > 0) {
    note = fmt::format("loss {:.3f} acc {:.1f} %", last_.mean_loss(), 100 * last_.accuracy());
  }
  if (seconds > 0) {
    note += fmt::format(
        "{}{:.0f} samples/s {}/s", note.empty() ? "" : ", ",
        (standing.samples - first_.samples) / seconds,
        format_size(static_cast<std::size_t>((standing.bytes - first_.bytes) / seconds)));
  }
  progress_.update(static_cast<std::uint64_t>(standing.step), wall_clock(), note);
}

void Reporter::note(const std::string& text) {
  log_.write(seconds_, text);
}

void Reporter::say(const std::string& line) {
  note(line);
  if (!quiet_) progress_.say(line);
}

}  // namespace lockstep
