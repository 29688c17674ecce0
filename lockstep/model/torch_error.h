// Torch explains its errors on many lines, stack and source of the module included. A user needs
// the one that says what was wrong.
#pragma once

#include <exception>
#include <string>

namespace lockstep {

std::string short_reason(const std::exception& error);

}  // namespace lockstep
