#include "lockstep/pipeline/slot_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lockstep/base/error.h"

namespace lockstep {
namespace {

constexpr double kNotYet = -1;

// When the forward or backward of each micro-batch ended, by stage; kNotYet before.
class Ends {
 public:
  Ends(std::size_t stages, int microbatches)
      : forward_(stages, std::vector<double>(static_cast<std::size_t>(microbatches), kNotYet)),
        backward_(forward_) {}

  double& of(std::size_t stage, const PipelineOp& op) {
    auto& all = op.kind == PipelineOp::Kind::kForward ? forward_ : backward_;
    return all[stage][static_cast<std::size_t>(op.microbatch)];
  }

  // When everything that `op` needs is there; kNotYet if something has not been done.
  double ready(std::size_t stage, const PipelineOp& op, const std::vector<StageTimes>& times) {
    const auto at = static_cast<std::size_t>(op.microbatch);
    if (op.kind == PipelineOp::Kind::kForward) {
      if (stage == 0) return 0;
      const double before = forward_[stage - 1][at];
      return before == kNotYet ? kNotYet : before + times[stage - 1].send_next;
    }
    const double own = forward_[stage][at];
    if (own == kNotYet || stage + 1 == times.size()) return own;
    const double after = backward_[stage + 1][at];
    return after == kNotYet ? kNotYet : std::max(own, after + times[stage].send_next);
  }

 private:
  std::vector<std::vector<double>> forward_, backward_;
};

}  // namespace

double SlotTable::idle_share() const {
  double busy = 0;
  for (const auto& stage : stages) {
    for (const Slot& slot : stage) busy += slot.end - slot.begin;
  }
  return makespan > 0 ? 1 - busy / (makespan * static_cast<double>(stages.size())) : 0;
}

double ideal_idle_share(int stages, int microbatches) {
  return static_cast<double>(stages - 1) / static_cast<double>(microbatches + stages - 1);
}

SlotTable slot_table(const PipelineSchedule& schedule, int microbatches,
                     const std::vector<StageTimes>& times) {
  const std::size_t k = times.size();
  std::vector<std::vector<PipelineOp>> todo;
  for (std::size_t s = 0; s < k; ++s) {
    todo.push_back(schedule.operations(static_cast<int>(s), static_cast<int>(k), microbatches));
  }
  SlotTable table;
  table.stages.resize(k);
  Ends ends(k, microbatches);
  std::vector<double> free(k, 0);
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t s = 0; s < k; ++s) {
      auto& done = table.stages[s];
      while (done.size() < todo[s].size()) {
        const PipelineOp op = todo[s][done.size()];
        const double ready = ends.ready(s, op, times);
        if (ready == kNotYet) break;
        const double begin = std::max(ready, free[s]);
        const bool forward = op.kind == PipelineOp::Kind::kForward;
        free[s] = begin + (forward ? times[s].forward : times[s].backward);
        ends.of(s, op) = free[s];
        done.push_back({op, begin, free[s]});
        moved = true;
      }
    }
  }
  for (std::size_t s = 0; s < k; ++s) {
    LOCKSTEP_CHECK(table.stages[s].size() == todo[s].size(),
                   "the schedule waits for itself: stage {} does not get beyond operation {}", s,
                   table.stages[s].size());
    table.makespan = std::max(table.makespan, free[s]);
    table.peak_activations.push_back(peak_activations(todo[s]));
  }
  return table;
}

std::string to_text(const SlotTable& table, std::size_t most_slots) {
  const auto all = static_cast<std::size_t>(std::lround(table.makespan));
  const std::size_t columns = std::min(all, most_slots);
  int most = 0;
  for (const auto& stage : table.stages) {
    for (const Slot& slot : stage) most = std::max(most, slot.op.microbatch);
  }
  const std::size_t width =
      std::max(1 + fmt::format("{}", most).size(), fmt::format("{}", columns).size());
  std::string text = fmt::format("{:>8} ", "slot");
  for (std::size_t i = 0; i < columns; ++i) text += fmt::format(" {:>{}}", i + 1, width);
  text += "\n";
  for (std::size_t s = 0; s < table.stages.size(); ++s) {
    std::vector<std::string> cells(columns, std::string(width, '.'));
    for (const Slot& slot : table.stages[s]) {
      const bool forward = slot.op.kind == PipelineOp::Kind::kForward;
      const auto begin = static_cast<std::size_t>(std::lround(slot.begin));
      const auto end = static_cast<std::size_t>(std::lround(slot.end));
      for (std::size_t i = begin; i < std::min(end, columns); ++i) {
        cells[i] = fmt::format("{}{}", forward ? 'F' : 'B', slot.op.microbatch);
      }
    }
    text += fmt::format("{:>8} ", fmt::format("stage {}", s));
    for (const std::string& cell : cells) text += fmt::format(" {:<{}}", cell, width);
    text += columns < all ? " …\n" : "\n";
  }
  return text;
}

}  // namespace lockstep
