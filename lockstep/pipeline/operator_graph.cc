#include "lockstep/pipeline/operator_graph.h"

#include "lockstep/base/error.h"

namespace lockstep {

void connect(OperatorGraph& graph) {
  const std::size_t n = graph.operators.size();
  graph.consumers.assign(n, {});
  graph.order.clear();
  std::vector<std::size_t> missing(n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    missing[i] = graph.operators[i].inputs.size();
    for (const GraphInput& input : graph.operators[i].inputs) {
      graph.consumers[input.from].push_back(i);
    }
    if (missing[i] == 0) graph.order.push_back(i);
  }
  for (std::size_t next = 0; next < graph.order.size(); ++next) {
    for (const std::size_t consumer : graph.consumers[graph.order[next]]) {
      if (--missing[consumer] == 0) graph.order.push_back(consumer);
    }
  }
  if (graph.order.size() == n) return;
  // Inputs that are missing lead back to the same operator sooner or later.
  std::size_t at = 0;
  while (missing[at] == 0) ++at;
  std::vector<std::size_t> path;
  std::vector<char> seen(n, 0);
  while (seen[at] == 0) {
    seen[at] = 1;
    path.push_back(at);
    for (const GraphInput& input : graph.operators[at].inputs) {
      if (missing[input.from] > 0) {
        at = input.from;
        break;
      }
    }
  }
  constexpr int kMostNames = 8;
  std::string cycle = graph.operators[at].name;
  int names = 1;
  for (auto i = path.rbegin(); i != path.rend(); ++i) {
    if (names++ == kMostNames) cycle += " → …";
    if (names <= kMostNames || *i == at) cycle += " → " + graph.operators[*i].name;
    if (*i == at) break;
  }
  throw ConfigError("operators need each other's outputs: {}", cycle);
}

}  // namespace lockstep
