// How many floating-point operations a piece of torch code does, counted from the shapes that its
// matrix products and convolutions get: the same on every machine and run.
#pragma once

#include <functional>

namespace lockstep {

// Runs `body` and counts what it does on this thread. Element-wise operations are left out.
double count_flops(const std::function<void()>& body);

}  // namespace lockstep
