// Who hears whom, on fixed graphs of workers. Pure arithmetic. On each of them everybody hears as
// many as everybody else and is heard by as many: the matrix of means over oneself and those one
// hears is doubly stochastic, so mixing by it keeps the average over all workers.
#pragma once

#include <string>
#include <vector>

namespace lockstep {

// Those whom a worker hears, ascending, without itself.
using Graph = std::vector<int> (*)(int worker, int workers);

std::vector<int> ring_neighbours(int worker, int workers);  // the one before and the one behind
// Up, down, left and right in a grid that is closed at its borders; a prime number makes a ring.
std::vector<int> torus_neighbours(int worker, int workers);
// Those 1, 2, 4, … places before (Ying et al. 2021): ⌈log₂M⌉ of them, so news are everywhere after
// as many steps. A worker is heard by those 1, 2, 4, … places behind.
std::vector<int> exponential_neighbours(int worker, int workers);

std::vector<std::string> graph_names();
Graph graph_named(const std::string& name);  // one of graph_names()

// Those who hear a worker, ascending.
std::vector<int> hearers(Graph graph, int worker, int workers);

}  // namespace lockstep
