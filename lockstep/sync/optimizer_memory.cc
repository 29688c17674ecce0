#include "lockstep/sync/optimizer_memory.h"

namespace lockstep {
namespace {

class FloatSpans : public StateVisitor {
 public:
  void floats(std::string_view, std::span<float> values) override { spans.push_back(values); }
  void integer(std::string_view, std::int64_t&) override {}
  void real(std::string_view, double&) override {}
  void bytes(std::string_view, std::vector<std::byte>&) override {}
  std::vector<std::span<float>> spans;
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

std::vector<std::span<float>> memory_of(Optimizer& optimizer) {
  FloatSpans memory;
  optimizer.state(memory);
  return memory.spans;
}

void average_memory(Optimizer& optimizer, Communicator& communicator) {
  for (const std::span<float> values : memory_of(optimizer)) communicator.average(values);
}

}  // namespace lockstep
