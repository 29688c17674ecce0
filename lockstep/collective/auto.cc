// Auto: measures the algorithms once on this transport for a ladder of sizes, keeps the table, and
// picks by it. The table belongs to the run: with it the same algorithms run again, and with them
// the same bits; without it another measurement may pick others.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "lockstep/base/json_lines.h"
#include "lockstep/base/text.h"
#include "lockstep/collective/all_reduce.h"
#include "lockstep/collective/collectives.h"
#include "lockstep/collective/measure.h"

namespace lockstep {
namespace {

constexpr std::size_t kLadderBegin = 1 << 10;  // bytes
#ifdef LOCKSTEP_SANITIZED                      // where times mean nothing and take for ever
constexpr std::size_t kLadderEnd = 16 << 10;
#else
constexpr std::size_t kLadderEnd = 4 << 20;
#endif
constexpr std::size_t kLadderStep = 4;
constexpr int kRepeats = 7;
constexpr int kMostRanks = 1 << 20;
constexpr std::size_t kTooMuch = 4;  // times the least traffic: not worth measuring

struct Row {
  std::size_t bytes = 0;
  std::string best;
  std::map<std::string, double> seconds;
};

class Auto : public AllReduce {
 public:
  explicit Auto(std::string path) : AllReduce("all-reduce auto"), path_(std::move(path)) {
    auto& registry = Registry<AllReduce>::instance();
    for (const auto& name : registry.names()) {
      if (name != "auto" && name != "hybrid") candidates_[name] = registry.make(name);
    }
  }

  void prepare(Group& group) override {
    if (group.size() == 1 || load(group)) return;
    auto& rows = tables_[group.size()];
    rows.clear();
    for (std::size_t bytes = kLadderBegin; bytes <= kLadderEnd; bytes *= kLadderStep) {
      rows.push_back(measure(group, bytes));
    }
    if (!path_.empty() && group.index() == 0) save();
  }

  std::string findings() const override {
    std::vector<std::vector<std::string>> lines;
    for (const auto& [ranks, rows] : tables_) {
      for (const auto& row : rows) {
        lines.push_back({fmt::format("{} ranks, {}", ranks, format_size(row.bytes)), row.best,
                         format_seconds(row.seconds.at(row.best))});
      }
    }
    return format_table(lines);
  }

  void reduce(Group& group, std::span<float> data, const Reduction& reduction) const override {
    pick(group.size(), data.size()).reduce(group, data, reduction);
  }
  void tally(Tally& tally, int ranks, std::size_t n) const override {
    pick(ranks, n).tally(tally, ranks, n);
  }

 private:
  // By the row whose size is nearest by ratio; groups nobody measured run what is best on most.
  const AllReduce& pick(int ranks, std::size_t n) const {
    const auto table = tables_.find(ranks);
    if (table == tables_.end()) return *candidates_.at("native");
    const double bytes = static_cast<double>(std::max<std::size_t>(n, 1) * sizeof(float));
    const auto distance = [&](const Row& row) {
      const double ratio = bytes / static_cast<double>(row.bytes);
      return std::max(ratio, 1 / ratio);
    };
    const auto nearest =
        std::min_element(table->second.begin(), table->second.end(),
                         [&](const Row& a, const Row& b) { return distance(a) < distance(b); });
    return *candidates_.at(nearest->best);
  }

  Row measure(Group& group, std::size_t bytes) {
    const std::size_t n = bytes / sizeof(float);
    std::size_t least = static_cast<std::size_t>(-1);
    for (const auto& [name, algorithm] : candidates_) {
      least = std::min(least, algorithm->cost(group.size(), n).bytes_most);
    }
    Row row{bytes, "", {}};
    for (const auto& [name, algorithm] : candidates_) {
      if (algorithm->cost(group.size(), n).bytes_most > kTooMuch * least) continue;
      row.seconds[name] =
          summarise(time_all_reduce(group, *algorithm, n, ReduceOp::kMean, kRepeats)).median;
      if (row.best.empty() || row.seconds[name] < row.seconds[row.best]) row.best = name;
    }
    return row;
  }

  // Member 0 reads, so that all use the same table even if only its host has the file.
  bool load(Group& group) {
    if (!tables_.empty()) return tables_.contains(group.size());
    std::string text;
    if (!path_.empty() && group.index() == 0 && std::filesystem::exists(path_)) {
      for (const auto& line : read_json_lines(path_)) text += line.dump() + "\n";
    }
    text = all_gather_texts(group, text)[0];
    for (const auto& line : split(text, '\n')) {
      if (!line.empty()) take(Json::parse(line));
    }
    return tables_.contains(group.size());
  }

  void take(const Json& line) {
    try {
      const std::int64_t bytes = line.at("bytes"), ranks = line.at("ranks");
      Row row{static_cast<std::size_t>(bytes), line.at("best"), line.at("seconds")};
      if (bytes > 0 && ranks > 0 && ranks <= kMostRanks && candidates_.contains(row.best) &&
          row.seconds.contains(row.best)) {
        tables_[static_cast<int>(ranks)].push_back(std::move(row));
        return;
      }
    } catch (const Json::exception&) {
      // Said below, in words that help.
    }
    throw DataError("{} is not a table of all-reduce times; remove it to measure anew", path_);
  }

  void save() const {
    JsonLines file(path_);
    for (const auto& [ranks, rows] : tables_) {
      for (const auto& row : rows) {
        file.write(
            {{"ranks", ranks}, {"bytes", row.bytes}, {"best", row.best}, {"seconds", row.seconds}});
      }
    }
  }

  std::string path_;
  std::map<std::string, std::unique_ptr<AllReduce>> candidates_;
  std::map<int, std::vector<Row>> tables_;  // by group size
};

OptionSet options() {
  OptionSet set;
  set.text("table", "", "file that keeps the measured table; read if it is there, else written");
  return set;
}

const Registration<AllReduce> kAuto{
    "auto", "Measures the others once on this transport and picks the fastest for each size.",
    options(), [](const Options& values) { return std::make_unique<Auto>(values.text("table")); }};

}  // namespace
}  // namespace lockstep
