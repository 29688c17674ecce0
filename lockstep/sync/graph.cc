#include "lockstep/sync/graph.h"

#include <algorithm>
#include <map>
#include <set>

#include "lockstep/collective/grid.h"

namespace lockstep {
namespace {

const std::map<std::string, Graph>& graphs() {
  static const std::map<std::string, Graph> all{{"ring", ring_neighbours},
                                                {"torus", torus_neighbours},
                                                {"exponential", exponential_neighbours}};
  return all;
}

// Each once, in order; on small graphs two neighbours may be one, or oneself.
std::vector<int> others(std::set<int> heard, int worker) {
  heard.erase(worker);
  return {heard.begin(), heard.end()};
}

}  // namespace

std::vector<int> ring_neighbours(int worker, int workers) {
  return others({(worker + 1) % workers, (worker + workers - 1) % workers}, worker);
}

std::vector<int> torus_neighbours(int worker, int workers) {
  const int x = row_length(workers), y = workers / x;
  const int column = worker % x, row = worker / x;
  const auto at = [&](int r, int c) { return (r + y) % y * x + (c + x) % x; };
  return others(
      {at(row - 1, column), at(row + 1, column), at(row, column - 1), at(row, column + 1)}, worker);
}

std::vector<int> exponential_neighbours(int worker, int workers) {
  std::set<int> heard;
  for (int hop = 1; hop < workers; hop *= 2) heard.insert((worker + workers - hop) % workers);
  return others(std::move(heard), worker);
}

std::vector<std::string> graph_names() {
  std::vector<std::string> names;
  for (const auto& [name, graph] : graphs()) names.push_back(name);
  return names;
}

Graph graph_named(const std::string& name) {
  return graphs().at(name);
}

std::vector<int> hearers(Graph graph, int worker, int workers) {
  std::vector<int> all;
  for (int other = 0; other < workers; ++other) {
    const auto heard = graph(other, workers);
    if (std::ranges::find(heard, worker) != heard.end()) all.push_back(other);
  }
  return all;
}

}  // namespace lockstep
