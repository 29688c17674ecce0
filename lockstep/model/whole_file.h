// Files of torch that are there as a whole or not at all.
#pragma once

#include <functional>
#include <string>

namespace lockstep {

// `write` writes a file of the name it is given, which then takes the place of `path`. Throws a
// DataError that names `path` if it cannot.
void save_whole(const std::string& path, const std::function<void(const std::string&)>& write);

}  // namespace lockstep
