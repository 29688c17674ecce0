#include "apps/all_reduce_trace.h"

#include <algorithm>
#include <deque>
#include <span>

#include "lockstep/transport/forwarding.h"
#include "lockstep/transport/world.h"

namespace lockstep {
namespace {

using Label = std::pair<std::string, int>;  // phase and index

// Records one rank. Nobody but this rank changes its vector, so it may be copied at any step.
class Recorder : public GroupObserver {
 public:
  struct Event {
    int peer;
    int offset;
    Values values;  // sent, or what stands there now
    Values before;
    bool combined;
  };
  struct Step {
    Label label;
    int count;
    std::deque<Event> sends;
    std::vector<Event> receives;
    Values after;
  };

  explicit Recorder(std::span<const float> vector)
      : vector_(vector), last_(vector.begin(), vector.end()) {}

  void on_step(const char* phase, int index, int count) override {
    close();
    steps.push_back({{phase, index}, count, {}, {}, {}});
  }
  void on_send(int to, std::span<const float> data) override {
    if (steps.empty()) return;
    steps.back().sends.push_back({to, offset(data), {data.begin(), data.end()}, {}, false});
  }
  void on_receive(int from, std::span<const float> into) override { receive(from, into, false); }
  void on_combine(int from, std::span<const float> into, ReduceOp) override {
    receive(from, into, true);
  }
  void close() {
    if (!steps.empty()) steps.back().after.assign(vector_.begin(), vector_.end());
    last_.assign(vector_.begin(), vector_.end());
  }

  std::vector<Step> steps;

 private:
  int offset(std::span<const float> data) const {
    const bool inside = data.data() >= vector_.data() &&
                        data.data() + data.size() <= vector_.data() + vector_.size();
    return inside ? static_cast<int>(data.data() - vector_.data()) : -1;
  }
  void receive(int from, std::span<const float> into, bool combined) {
    if (steps.empty()) return;
    Event event{from, offset(into), {into.begin(), into.end()}, {}, combined};
    if (event.offset >= 0) {
      const auto begin = last_.begin() + event.offset;
      event.before.assign(begin, begin + static_cast<std::ptrdiff_t>(into.size()));
      std::copy(into.begin(), into.end(), begin);
    }
    steps.back().receives.push_back(std::move(event));
  }

  std::span<const float> vector_;
  Values last_;  // as it was before the next message arrives
};

// Every rank goes through a part of the steps, in the same order. Puts them back together: next is
// a label that no rank still has something before.
std::vector<Label> merged_order(const std::vector<Recorder>& ranks) {
  std::vector<std::size_t> at(ranks.size(), 0);
  std::vector<Label> order;
  const auto stands_later = [&](const Label& label, std::size_t rank) {
    const auto& steps = ranks[rank].steps;
    return std::any_of(
        steps.begin() + static_cast<std::ptrdiff_t>(std::min(at[rank] + 1, steps.size())),
        steps.end(), [&](const auto& step) { return step.label == label; });
  };
  while (true) {
    const Label* next = nullptr;
    for (std::size_t r = 0; r < ranks.size() && next == nullptr; ++r) {
      if (at[r] == ranks[r].steps.size()) continue;
      const Label& candidate = ranks[r].steps[at[r]].label;
      bool free = true;
      for (std::size_t other = 0; other < ranks.size(); ++other) {
        const bool heads = at[other] < ranks[other].steps.size() &&
                           ranks[other].steps[at[other]].label == candidate;
        free = free && (heads || !stands_later(candidate, other));
      }
      if (free) next = &candidate;
    }
    if (next == nullptr) return order;
    const Label label = *next;
    order.push_back(label);
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      if (at[r] < ranks[r].steps.size() && ranks[r].steps[at[r]].label == label) ++at[r];
    }
  }
}

}  // namespace

std::vector<TracedStep> trace_all_reduce(const AllReduceFactory& make, ReduceOp op,
                                         const std::vector<Values>& vectors,
                                         std::string& findings) {
  std::vector<Values> data = vectors;
  std::vector<Recorder> recorders;
  for (const auto& vector : data) recorders.emplace_back(vector);
  const auto world = Registry<World>::instance().make("threads");
  const int ranks = static_cast<int>(vectors.size());
  world->run(ranks, [&](Transport& transport) {
    MessagesOnly messages(transport);
    Group group(messages);
    const auto algorithm = make();
    algorithm->prepare(group);
    if (transport.rank() == 0) findings = algorithm->findings();
    const auto r = static_cast<std::size_t>(transport.rank());
    group.observe(&recorders[r]);
    algorithm->run(group, data[r], op);
    recorders[r].close();
  });

  std::vector<TracedStep> steps;
  std::vector<Values> now = vectors;
  for (const auto& label : merged_order(recorders)) {
    TracedStep step{label.first, label.second, 0, {}, {}};
    std::vector<Recorder::Step*> parts(vectors.size(), nullptr);
    for (std::size_t r = 0; r < recorders.size(); ++r) {
      for (auto& part : recorders[r].steps) {
        if (part.label == label) parts[r] = &part;
      }
    }
    for (std::size_t r = 0; r < parts.size(); ++r) {
      if (parts[r] == nullptr) continue;
      step.count = parts[r]->count;
      for (auto& event : parts[r]->receives) {
        TracedMessage message{event.peer,
                              static_cast<int>(r),
                              event.offset,
                              {},
                              event.combined,
                              event.before,
                              event.before.empty() ? Values{} : event.values};
        if (Recorder::Step* sender = parts[static_cast<std::size_t>(event.peer)]) {
          const auto sent =
              std::find_if(sender->sends.begin(), sender->sends.end(),
                           [&](const auto& send) { return send.peer == static_cast<int>(r); });
          if (sent != sender->sends.end()) {
            message.offset = sent->offset;
            message.sent = sent->values;
            sender->sends.erase(sent);
          }
        }
        step.messages.push_back(std::move(message));
      }
      now[r] = parts[r]->after;
    }
    std::sort(step.messages.begin(), step.messages.end(), [](const auto& a, const auto& b) {
      return std::pair(a.from, a.to) < std::pair(b.from, b.to);
    });
    step.vectors = now;
    steps.push_back(std::move(step));
  }
  return steps;
}

}  // namespace lockstep
