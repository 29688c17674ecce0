// A computation as a graph of operators: what each costs, and what flows between them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

struct GraphInput {
  std::size_t from = 0;  // an operator
  double bytes = 0;
};

struct Operator {
  std::string name;
  double seconds = 0;  // on a device of speed 1
  double memory = 0;   // bytes it takes from the device that it is placed on
  std::vector<GraphInput> inputs;
};

struct OperatorGraph {
  std::string title;
  std::vector<Operator> operators;
  std::vector<std::vector<std::size_t>> consumers;  // of each operator's output
  std::vector<std::size_t> order;                   // every operator behind its inputs
};

// Fills `consumers` and `order`; a ConfigError that names a cycle.
void connect(OperatorGraph& graph);

// ConfigErrors name file, line and key, and say what is allowed.
OperatorGraph load_graph(const std::string& path);
OperatorGraph parse_graph(std::string_view text, const std::string& name);

}  // namespace lockstep
