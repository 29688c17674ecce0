#include "lockstep/pipeline/operator_placement.h"

#include <algorithm>
#include <functional>

namespace lockstep {

bool PlacementSimulator::Event::operator>(const Event& other) const {
  if (time != other.time) return time > other.time;
  return kind != other.kind ? kind > other.kind : which > other.which;
}

bool PlacementSimulator::Delivery::operator<(const Delivery& other) const {
  if (priority != other.priority) return priority < other.priority;
  return op != other.op ? op > other.op : to > other.to;
}

bool PlacementSimulator::Ready::operator<(const Ready& other) const {
  return priority != other.priority ? priority < other.priority : op > other.op;
}

PlacementSimulator::PlacementSimulator(const OperatorGraph& graph, const Devices& devices)
    : graph_(graph),
      devices_(devices),
      bytes_(graph.operators.size()),
      ready_(devices.size()),
      leaving_(devices.size()) {
  for (const Operator& op : graph.operators) {
    for (const GraphInput& input : op.inputs) {
      bytes_[input.from].push_back(input.bytes);  // consumers were found in the same order
    }
  }
}

const PlacementTimes& PlacementSimulator::run(const OperatorPlacement& placement) {
  placement_ = &placement;
  begin_again();
  for (std::size_t i = 0; i < devices_.size(); ++i) start_next(i, 0);
  while (!events_.empty()) {
    // All that happens at one time, before anything is begun: the most urgent is to be found,
    // whichever came first.
    const double now = events_.front().time;
    while (!events_.empty() && events_.front().time <= now) {
      std::pop_heap(events_.begin(), events_.end(), std::greater<>());
      const Event event = events_.back();
      events_.pop_back();
      happen(event);
    }
    std::ranges::sort(touched_);
    for (const std::size_t device : touched_) {
      is_touched_[device] = 0;
      send_next(device, now);
      start_next(device, now);
    }
    touched_.clear();
    times_.makespan = now;
  }
  return times_;
}

void PlacementSimulator::begin_again() {
  times_.tasks.clear();
  times_.messages.clear();
  times_.makespan = 0;
  events_.clear();
  missing_.clear();
  busy_.assign(devices_.size(), 0);
  port_busy_.assign(devices_.size(), 0);
  for (auto& heap : ready_) heap.clear();
  for (auto& heap : leaving_) heap.clear();
  consumers_.clear();
  deliveries_.clear();
  touched_.clear();
  is_touched_.assign(devices_.size(), 0);
  for (std::size_t i = 0; i < graph_.operators.size(); ++i) {
    missing_.push_back(graph_.operators[i].inputs.size());
    if (missing_[i] > 0) continue;
    ready_[placement_->device[i]].push_back({placement_->priority[i], i});
  }
  for (auto& heap : ready_) std::make_heap(heap.begin(), heap.end());
}

void PlacementSimulator::expect(double time, Event::Kind kind, std::size_t which) {
  events_.push_back({time, kind, which});
  std::push_heap(events_.begin(), events_.end(), std::greater<>());
}

void PlacementSimulator::touch(std::size_t device) {
  if (is_touched_[device] == 0) touched_.push_back(device);
  is_touched_[device] = 1;
}

void PlacementSimulator::happen(const Event& event) {
  switch (event.kind) {
    case Event::Kind::kTaskEnds: {
      const PlacedTask task = times_.tasks[event.which];
      busy_[task.device] = 0;
      touch(task.device);
      hand_over(task);
      return;
    }
    case Event::Kind::kArrives:
      deliver(deliveries_[event.which]);
      return;
    case Event::Kind::kPortIsFree:
      port_busy_[event.which] = 0;
      touch(event.which);
  }
}

// A result is where those who need it are.
void PlacementSimulator::deliver(const Delivery& delivery) {
  auto& ready = ready_[delivery.to];
  touch(delivery.to);
  for (std::size_t i = delivery.first; i < delivery.last; ++i) {
    const std::size_t consumer = consumers_[i];
    if (--missing_[consumer] > 0) continue;
    ready.push_back({placement_->priority[consumer], consumer});
    std::push_heap(ready.begin(), ready.end());
  }
}

// To its consumers on the same device at once, to every other device in one message.
void PlacementSimulator::hand_over(const PlacedTask& task) {
  const auto& all = graph_.consumers[task.op];
  sorting_.clear();
  for (std::size_t i = 0; i < all.size(); ++i) sorting_.emplace_back(all[i], bytes_[task.op][i]);
  std::ranges::stable_sort(sorting_, {},
                           [&](const auto& one) { return placement_->device[one.first]; });
  for (std::size_t i = 0; i < sorting_.size();) {
    const std::size_t to = placement_->device[sorting_[i].first];
    Delivery delivery{task.op, to, consumers_.size(), 0, placement_->priority[sorting_[i].first]};
    for (; i < sorting_.size() && placement_->device[sorting_[i].first] == to; ++i) {
      delivery.priority = std::max(delivery.priority, placement_->priority[sorting_[i].first]);
      delivery.bytes = std::max(delivery.bytes, sorting_[i].second);
      consumers_.push_back(sorting_[i].first);
    }
    delivery.last = consumers_.size();
    if (to == task.device) {
      deliver(delivery);
    } else {
      leaving_[task.device].push_back(delivery);
      std::push_heap(leaving_[task.device].begin(), leaving_[task.device].end());
    }
  }
}

void PlacementSimulator::send_next(std::size_t device, double now) {
  auto& leaving = leaving_[device];
  if (leaving.empty() || port_busy_[device] != 0) return;
  std::pop_heap(leaving.begin(), leaving.end());
  const Delivery next = leaving.back();
  leaving.pop_back();
  const auto& way = devices_.ways[device][next.to];
  const double left = now + next.bytes / way.bandwidth;
  port_busy_[device] = 1;
  deliveries_.push_back(next);
  times_.messages.push_back({next.op, device, next.to, now, left + way.latency});
  expect(left, Event::Kind::kPortIsFree, device);
  expect(left + way.latency, Event::Kind::kArrives, deliveries_.size() - 1);
}

void PlacementSimulator::start_next(std::size_t device, double now) {
  auto& ready = ready_[device];
  if (ready.empty() || busy_[device] != 0) return;
  std::pop_heap(ready.begin(), ready.end());
  const std::size_t op = ready.back().op;
  ready.pop_back();
  busy_[device] = 1;
  const double end = now + graph_.operators[op].seconds / devices_.all[device].speed;
  times_.tasks.push_back({op, device, now, end});
  expect(end, Event::Kind::kTaskEnds, times_.tasks.size() - 1);
}

double placement_lower_bound(const OperatorGraph& graph, const Devices& devices) {
  double work = 0, speeds = 0, longest = 0;
  std::vector<double> ends(graph.operators.size(), 0);
  for (const std::size_t i : graph.order) {
    const Operator& op = graph.operators[i];
    for (const GraphInput& input : op.inputs) ends[i] = std::max(ends[i], ends[input.from]);
    ends[i] += op.seconds;
    longest = std::max(longest, ends[i]);
    work += op.seconds;
  }
  for (const Device& device : devices.all) speeds += device.speed;
  return std::max(longest / devices.all[devices.fastest()].speed, work / speeds);
}

std::vector<double> upward_ranks(const OperatorGraph& graph, const Devices& devices) {
  const auto n = static_cast<double>(devices.size());
  double slowness = 0, latency = 0, per_byte = 0, pairs = 0;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    slowness += 1 / devices.all[i].speed / n;
    for (std::size_t j = 0; j < devices.size(); ++j) {
      if (i == j) continue;
      latency += devices.ways[i][j].latency;
      per_byte += 1 / devices.ways[i][j].bandwidth;
      ++pairs;
    }
  }
  pairs = std::max(pairs, 1.0);
  std::vector<double> ranks(graph.operators.size(), 0);
  for (auto i = graph.order.rbegin(); i != graph.order.rend(); ++i) {
    const Operator& op = graph.operators[*i];
    ranks[*i] += op.seconds * slowness;
    for (const GraphInput& input : op.inputs) {
      const double message = (latency + input.bytes * per_byte) / pairs;
      ranks[input.from] = std::max(ranks[input.from], ranks[*i] + message);
    }
  }
  return ranks;
}

bool fits_memory(const OperatorGraph& graph, const Devices& devices,
                 const OperatorPlacement& placement) {
  std::vector<double> used(devices.size(), 0);
  for (std::size_t i = 0; i < graph.operators.size(); ++i) {
    used[placement.device[i]] += graph.operators[i].memory;
  }
  for (std::size_t d = 0; d < devices.size(); ++d) {
    if (!devices.all[d].holds(used[d])) return false;
  }
  return true;
}

}  // namespace lockstep
