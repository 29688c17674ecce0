// Where the running program lies, to start it again.
#pragma once

#include <string>

namespace lockstep {

std::string this_program();  // its absolute path; a DataError if the system does not tell

}  // namespace lockstep
