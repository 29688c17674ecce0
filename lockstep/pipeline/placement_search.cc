#include "lockstep/pipeline/placement_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "lockstep/base/error.h"
#include "lockstep/base/random.h"
#include "lockstep/base/text.h"

namespace lockstep {
namespace {

std::optional<OperatorPlacement> if_it_fits(const OperatorGraph& graph, const Devices& devices,
                                            OperatorPlacement placement) {
  if (!fits_memory(graph, devices, placement)) return {};
  return placement;
}

// Largest first, each where the most is left, or where the least is left that holds it: for graphs
// that fill the devices.
std::optional<OperatorPlacement> by_memory(const OperatorGraph& graph, const Devices& devices,
                                           bool most_left) {
  std::vector<std::size_t> order(graph.operators.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>(),
                           [&](std::size_t i) { return graph.operators[i].memory; });
  constexpr double kAny = std::numeric_limits<double>::max();
  std::vector<double> left;
  for (const Device& device : devices.all) left.push_back(device.memory > 0 ? device.memory : kAny);
  OperatorPlacement placement{std::vector<std::size_t>(order.size(), 0),
                              upward_ranks(graph, devices)};
  for (const std::size_t i : order) {
    const double needed = graph.operators[i].memory;
    const auto better = [&](double a, double b) {
      if ((a >= needed) != (b >= needed)) return a >= needed;
      return most_left ? a > b : a < b;
    };
    const auto chosen = std::ranges::min_element(left, better);
    placement.device[i] = static_cast<std::size_t>(chosen - left.begin());
    *chosen -= needed;
  }
  return if_it_fits(graph, devices, std::move(placement));
}

// One state of the search: a placement, its time, and the memory that is taken.
class Annealing {
 public:
  Annealing(const OperatorGraph& graph, const Devices& devices, PlacementSimulator& simulator,
            OperatorPlacement start, std::uint64_t seed, std::uint64_t number)
      : graph_(graph),
        devices_(devices),
        simulator_(simulator),
        random_(seed, "placement", number, 0),
        now_(std::move(start)),
        used_(devices.size(), 0) {
    for (std::size_t i = 0; i < graph.operators.size(); ++i) {
      used_[now_.device[i]] += graph.operators[i].memory;
    }
    time_ = simulator.run(now_).makespan;
    best_ = now_;
    best_time_ = time_;
  }

  // `share` of the search is done: it cools down. The last tenth takes only what is no worse.
  void step(double share) {
    changed_.clear();
    swapped_.reset();
    propose();
    if (!has_room()) return undo();
    const double time = simulator_.run(now_).makespan;
    constexpr double kHot = 0.05, kCold = 1e-4, kDescent = 0.9;
    const double heat =
        share >= kDescent ? 0 : best_time_ * kHot * std::pow(kCold / kHot, share / kDescent);
    const bool taken =
        time <= time_ || (heat > 0 && random_.uniform() < std::exp((time_ - time) / heat));
    if (!taken) return undo();
    time_ = time;
    if (time_ < best_time_) {
      best_time_ = time_;
      best_ = now_;
    }
  }

  const OperatorPlacement& best() const { return best_; }
  double best_time() const { return best_time_; }

 private:
  std::size_t any_operator() { return random_.below(graph_.operators.size()); }

  void move(std::size_t op, std::size_t device) {
    if (now_.device[op] == device) return;
    changed_.emplace_back(op, now_.device[op]);
    used_[now_.device[op]] -= graph_.operators[op].memory;
    used_[device] += graph_.operators[op].memory;
    now_.device[op] = device;
  }

  void propose() {
    const std::size_t op = any_operator();
    const std::uint64_t kind = random_.below(10);
    if (kind < 5) return move(op, random_.below(devices_.size()));
    if (kind < 7) {  // to where one of its inputs is, or with one of them elsewhere
      const auto& inputs = graph_.operators[op].inputs;
      if (inputs.empty()) return;
      const std::size_t input = inputs[random_.below(inputs.size())].from;
      if (random_.below(2) == 0) return move(op, now_.device[input]);
      const std::size_t device = random_.below(devices_.size());
      move(input, device);
      return move(op, device);
    }
    const std::size_t other = any_operator();
    if (kind < 8) {
      const std::size_t device = now_.device[op];
      move(op, now_.device[other]);
      return move(other, device);
    }
    std::swap(now_.priority[op], now_.priority[other]);
    swapped_ = {op, other};
  }

  void undo() {
    const auto changed = std::move(changed_);
    changed_.clear();
    for (auto i = changed.rbegin(); i != changed.rend(); ++i) move(i->first, i->second);
    if (swapped_) std::swap(now_.priority[swapped_->first], now_.priority[swapped_->second]);
  }

  bool has_room() const {
    for (std::size_t d = 0; d < devices_.size(); ++d) {
      if (!devices_.all[d].holds(used_[d])) return false;
    }
    return true;
  }

  const OperatorGraph& graph_;
  const Devices& devices_;
  PlacementSimulator& simulator_;
  Random random_;
  OperatorPlacement now_, best_;
  double time_ = 0, best_time_ = 0;
  std::vector<double> used_;
  std::vector<std::pair<std::size_t, std::size_t>> changed_;  // operators, and where they were
  std::optional<std::pair<std::size_t, std::size_t>> swapped_;
};

}  // namespace

std::optional<OperatorPlacement> one_device(const OperatorGraph& graph, const Devices& devices) {
  OperatorPlacement placement{std::vector<std::size_t>(graph.operators.size(), devices.fastest()),
                              upward_ranks(graph, devices)};
  return if_it_fits(graph, devices, std::move(placement));
}

std::optional<OperatorPlacement> round_robin(const OperatorGraph& graph, const Devices& devices) {
  OperatorPlacement placement{std::vector<std::size_t>(graph.operators.size(), 0),
                              upward_ranks(graph, devices)};
  for (std::size_t i = 0; i < graph.order.size(); ++i) {
    placement.device[graph.order[i]] = i % devices.size();
  }
  return if_it_fits(graph, devices, std::move(placement));
}

std::optional<OperatorPlacement> list_scheduling(const OperatorGraph& graph,
                                                 const Devices& devices) {
  OperatorPlacement placement{std::vector<std::size_t>(graph.operators.size(), 0),
                              upward_ranks(graph, devices)};
  std::vector<std::size_t> order = graph.order;  // stable: inputs stay before what needs them
  std::ranges::stable_sort(order, std::greater<>(),
                           [&](std::size_t i) { return placement.priority[i]; });
  std::vector<double> free(devices.size(), 0), port(devices.size(), 0), used(devices.size(), 0);
  std::vector<double> ends(graph.operators.size(), 0);
  // When all inputs are at `to`; messages leave their device one after the other.
  const auto inputs_at = [&](const Operator& op, std::size_t to, std::vector<double>& ports) {
    double ready = 0;
    for (const GraphInput& input : op.inputs) {
      const std::size_t from = placement.device[input.from];
      double there = ends[input.from];
      if (from != to) {
        const auto& way = devices.ways[from][to];
        ports[from] = std::max(ports[from], there) + input.bytes / way.bandwidth;
        there = ports[from] + way.latency;
      }
      ready = std::max(ready, there);
    }
    return ready;
  };
  std::vector<double> trial;
  for (const std::size_t i : order) {
    const Operator& op = graph.operators[i];
    double earliest = std::numeric_limits<double>::infinity();
    for (std::size_t d = 0; d < devices.size(); ++d) {
      if (!devices.all[d].holds(used[d] + op.memory)) continue;
      trial = port;
      const double begin = std::max(free[d], inputs_at(op, d, trial));
      const double end = begin + op.seconds / devices.all[d].speed;
      if (end < earliest) {
        earliest = end;
        placement.device[i] = d;
      }
    }
    if (earliest == std::numeric_limits<double>::infinity()) return {};
    const std::size_t chosen = placement.device[i];
    inputs_at(op, chosen, port);
    ends[i] = free[chosen] = earliest;
    used[chosen] += op.memory;
  }
  return placement;
}

OperatorPlacement search_placement(const OperatorGraph& graph, const Devices& devices,
                                   const SearchOptions& options) {
  std::vector<OperatorPlacement> starts;
  for (const auto& start :
       {list_scheduling(graph, devices), one_device(graph, devices), round_robin(graph, devices)}) {
    if (start) starts.push_back(*start);
  }
  for (const bool most_left : {true, false}) {
    if (!starts.empty()) break;
    if (const auto start = by_memory(graph, devices, most_left)) starts.push_back(*start);
  }
  if (starts.empty()) {
    double needed = 0, there = 0;
    for (const Operator& op : graph.operators) needed += op.memory;
    for (const Device& device : devices.all) there += device.memory;
    throw ConfigError(
        "no placement was found that fits: the operators need {} of memory, the {} "
        "devices have {}",
        format_size(static_cast<std::size_t>(needed)), devices.size(),
        format_size(static_cast<std::size_t>(there)));
  }
  PlacementSimulator simulator(graph, devices);
  OperatorPlacement best = starts.front();
  double best_time = std::numeric_limits<double>::infinity();
  const double bound = placement_lower_bound(graph, devices);
  const std::size_t each = std::max<std::size_t>(1, options.steps / starts.size());
  constexpr std::size_t kOperatorsBetween = 100'000;  // between two looks at the progress
  const std::size_t between =
      std::clamp<std::size_t>(kOperatorsBetween / graph.operators.size(), 1, 256);
  for (std::size_t s = 0; s < starts.size(); ++s) {
    Annealing annealing(graph, devices, simulator, starts[s], options.seed, s);
    for (std::size_t i = 0; i < each && annealing.best_time() > bound; ++i) {
      annealing.step(static_cast<double>(i) / static_cast<double>(each));
      if (options.progress && i % between == 0) {
        options.progress(
            static_cast<double>(s * each + i) / static_cast<double>(each * starts.size()),
            std::min(best_time, annealing.best_time()));
      }
    }
    if (annealing.best_time() < best_time) {
      best_time = annealing.best_time();
      best = annealing.best();
    }
    if (best_time <= bound) break;
  }
  return best;
}

}  // namespace lockstep
