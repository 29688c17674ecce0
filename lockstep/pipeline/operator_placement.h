// How long a graph of operators takes that is placed on devices: a simulation of events. A device
// does one operator at a time, of those that are ready the one with the highest priority. A result
// is sent once to every device that needs it; messages leave a device one after the other, the most
// urgent first.
#pragma once

#include <vector>

#include "lockstep/pipeline/devices.h"
#include "lockstep/pipeline/operator_graph.h"

namespace lockstep {

struct OperatorPlacement {
  std::vector<std::size_t> device;  // of each operator
  std::vector<double> priority;     // of each operator
};

struct PlacedTask {
  std::size_t op = 0, device = 0;
  double begin = 0, end = 0;
};

struct PlacedMessage {
  std::size_t op = 0, from = 0, to = 0;  // the operator whose result it is; devices
  double begin = 0, end = 0;
};

struct PlacementTimes {
  std::vector<PlacedTask> tasks;
  std::vector<PlacedMessage> messages;
  double makespan = 0;
};

// Keeps its memory from one call to the next: a search calls it many thousand times.
class PlacementSimulator {
 public:
  PlacementSimulator(const OperatorGraph& graph, const Devices& devices);
  const PlacementTimes& run(const OperatorPlacement& placement);

 private:
  struct Event {
    enum class Kind { kTaskEnds, kArrives, kPortIsFree };
    double time;
    Kind kind;
    std::size_t which;  // of the tasks, of the messages, of the devices
    bool operator>(const Event& other) const;
  };
  // Consumers of one result on one device: a range of `consumers_`.
  struct Delivery {
    std::size_t op = 0, to = 0, first = 0, last = 0;
    double priority = 0, bytes = 0;  // the most urgent, and the most, that any of them needs
    bool operator<(const Delivery& other) const;
  };
  struct Ready {
    double priority;
    std::size_t op;
    bool operator<(const Ready& other) const;
  };

  void begin_again();
  void happen(const Event& event);
  void deliver(const Delivery& delivery);
  void hand_over(const PlacedTask& task);
  void send_next(std::size_t device, double now);
  void start_next(std::size_t device, double now);
  void expect(double time, Event::Kind kind, std::size_t which);
  void touch(std::size_t device);

  const OperatorGraph& graph_;
  const Devices& devices_;
  const OperatorPlacement* placement_ = nullptr;  // of the call
  std::vector<std::vector<double>> bytes_;        // to each consumer, in their order
  std::vector<std::size_t> missing_;              // inputs of each operator
  std::vector<std::size_t> consumers_;            // of all deliveries
  std::vector<Delivery> deliveries_;              // one a message
  std::vector<std::vector<Ready>> ready_;         // heaps, by device
  std::vector<std::vector<Delivery>> leaving_;    // heaps, by device
  std::vector<char> busy_, port_busy_;            // by device
  std::vector<std::size_t> touched_;              // devices where something has happened just now
  std::vector<char> is_touched_;
  std::vector<std::pair<std::size_t, double>> sorting_;
  std::vector<Event> events_;  // a heap
  PlacementTimes times_;
};

// No placement is faster: neither than the longest path on the fastest device nor than all work
// shared out evenly.
double placement_lower_bound(const OperatorGraph& graph, const Devices& devices);

// The longest way from an operator to the end, its own time included, with mean speeds and mean
// messages ("upward rank" of HEFT): what should go first.
std::vector<double> upward_ranks(const OperatorGraph& graph, const Devices& devices);

bool fits_memory(const OperatorGraph& graph, const Devices& devices,
                 const OperatorPlacement& placement);

}  // namespace lockstep
