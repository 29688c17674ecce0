#include "lockstep/sync/optimizer_memory.h"

namespace lockstep {
namespace {

// Puts the average in the place of every vector it is shown. Counts of updates stay as they are.
class MemoryAverage : public StateVisitor {
 public:
  explicit MemoryAverage(Communicator& communicator) : communicator_(communicator) {}
  void floats(std::string_view, std::span<float> values) override { communicator_.average(values); }
  void integer(std::string_view, std::int64_t&) override {}
  void real(std::string_view, double&) override {}
  void bytes(std::string_view, std::vector<std::byte>&) override {}

 private:
  Communicator& communicator_;
};

}  // namespace

void add_memory_option(OptionSet& options, const std::string& fallback) {
  options
      .text("momentum", fallback,
            "the optimizer's memory when parameters are averaged: each worker keeps its own, all "
            "forget, or it is averaged too")
      .one_of({"local", "reset", "average"});
}

OptimizerMemory memory_option(const Options& options) {
  const std::string& name = options.text("momentum");
  if (name == "reset") return OptimizerMemory::kReset;
  return name == "average" ? OptimizerMemory::kAverage : OptimizerMemory::kLocal;
}

void average_memory(Optimizer& optimizer, Communicator& communicator) {
  MemoryAverage average(communicator);
  optimizer.state(average);
}

}  // namespace lockstep
