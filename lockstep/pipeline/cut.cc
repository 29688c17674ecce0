#include "lockstep/pipeline/cut.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "lockstep/base/error.h"

namespace lockstep {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// Sums over runs of layers in constant time.
class Chain {
 public:
  explicit Chain(const CutProblem& problem) : problem_(problem) {
    for (const ChainLayer& layer : problem.layers) {
      forward_.push_back(forward_.back() + layer.forward);
      backward_.push_back(backward_.back() + layer.backward);
      kept_.push_back(kept_.back() + layer.kept_bytes);
      state_.push_back(state_.back() + layer.state_bytes);
    }
  }

  std::size_t size() const { return problem_.layers.size(); }

  StageEstimate stage(std::size_t begin, std::size_t end, int in_flight) const {
    StageEstimate made{begin, end, 0, 0, 0};
    const double forward = forward_[end] - forward_[begin];
    made.seconds = forward + backward_[end] - backward_[begin];
    if (problem_.recompute) made.seconds += forward;
    if (end < size()) {
      made.message_seconds = 2 * problem_.latency;
      if (problem_.bytes_per_second > 0) {
        made.message_seconds += 2 * problem_.layers[end - 1].sent_bytes / problem_.bytes_per_second;
      }
    }
    const double kept = kept_[end] - kept_[begin];
    const double came_in = begin > 0 ? problem_.layers[begin - 1].sent_bytes : 0;
    const double goes_out = end < size() ? problem_.layers[end - 1].sent_bytes : 0;
    const double messages = 2 * (came_in + goes_out);  // and their gradients
    // Recomputing, one micro-batch at a time has all of its activations.
    made.bytes = state_[end] - state_[begin] + in_flight * messages +
                 (problem_.recompute ? kept : in_flight * kept);
    return made;
  }

  bool fits(const StageEstimate& stage) const {
    return problem_.memory <= 0 || stage.bytes <= problem_.memory;
  }

 private:
  const CutProblem& problem_;
  std::vector<double> forward_{0}, backward_{0}, kept_{0}, state_{0};
};

double slowest(const StageEstimate& stage) {
  return std::max(stage.seconds, stage.message_seconds);
}

// best[s][i]: of the first i layers in s stages; `cost` of a stage, joined by `join`; kNever: not
// possible. `from` has where the last of these stages begins.
template <class CostFn, class Join>
std::vector<std::size_t> best_ends(std::size_t layers, std::size_t stages, const CostFn& cost,
                                   const Join& join) {
  std::vector<std::vector<double>> best(stages + 1, std::vector<double>(layers + 1, kNever));
  std::vector<std::vector<std::size_t>> from(stages + 1, std::vector<std::size_t>(layers + 1, 0));
  best[0][0] = 0;
  for (std::size_t s = 1; s <= stages; ++s) {
    for (std::size_t end = s; end + (stages - s) <= layers; ++end) {
      for (std::size_t begin = s - 1; begin < end; ++begin) {
        if (best[s - 1][begin] == kNever) continue;
        const double total = join(best[s - 1][begin], cost(s - 1, begin, end));
        if (total < best[s][end]) {
          best[s][end] = total;
          from[s][end] = begin;
        }
      }
    }
  }
  std::vector<std::size_t> ends;
  if (best[stages][layers] == kNever) return ends;
  for (std::size_t s = stages, end = layers; s > 0; --s) {
    ends.insert(ends.begin(), end);
    end = from[s][end];
  }
  return ends;
}

Cut made_of(const Chain& chain, const std::vector<std::size_t>& ends,
            const std::vector<int>& in_flight) {
  Cut cut;
  std::size_t begin = 0;
  for (std::size_t s = 0; s < ends.size(); ++s) {
    cut.stages.push_back(chain.stage(begin, ends[s], in_flight[s]));
    cut.bottleneck = std::max(cut.bottleneck, slowest(cut.stages.back()));
    begin = ends[s];
  }
  return cut;
}

}  // namespace

std::vector<std::size_t> Cut::ends() const {
  std::vector<std::size_t> all;
  for (const StageEstimate& stage : stages) all.push_back(stage.end);
  return all;
}

Cut best_cut(const CutProblem& problem, const std::vector<int>& in_flight) {
  const Chain chain(problem);
  const std::size_t k = in_flight.size();
  if (k == 0 || k > chain.size()) {
    throw ConfigError("{} stages of {} layers: a stage needs a layer", k, chain.size());
  }
  const auto cost = [&](std::size_t s, std::size_t begin, std::size_t end) {
    const StageEstimate stage = chain.stage(begin, end, in_flight[s]);
    return chain.fits(stage) ? slowest(stage) : kNever;
  };
  const auto fastest =
      best_ends(chain.size(), k, cost, [](double a, double b) { return std::max(a, b); });
  if (fastest.empty()) return {};
  // Among those that are as fast: the one with the least time in messages, which fill and empty the
  // pipeline. In a second pass, for a stage may be slower than it could be if another one is.
  const double bottleneck = made_of(chain, fastest, in_flight).bottleneck;
  const auto messages = [&](std::size_t s, std::size_t begin, std::size_t end) {
    const StageEstimate stage = chain.stage(begin, end, in_flight[s]);
    return chain.fits(stage) && slowest(stage) <= bottleneck ? stage.message_seconds : kNever;
  };
  return made_of(chain,
                 best_ends(chain.size(), k, messages, [](double a, double b) { return a + b; }),
                 in_flight);
}

Cut cut_at(const CutProblem& problem, const std::vector<std::size_t>& ends,
           const std::vector<int>& in_flight) {
  const Chain chain(problem);
  bool rises = !ends.empty() && ends.front() > 0 && ends.back() == chain.size();
  for (std::size_t i = 1; i < ends.size(); ++i) rises = rises && ends[i] > ends[i - 1];
  if (!rises || ends.size() != in_flight.size()) {
    throw ConfigError(
        "stages that end before layers {}: they must rise from 1 to {}, one of {} "
        "stages each",
        fmt::join(ends, ", "), chain.size(), in_flight.size());
  }
  return made_of(chain, ends, in_flight);
}

}  // namespace lockstep
