// Is a zip archive whole? Torch's files are archives whose entries have checksums, which torch's
// own reader does not look at.
#pragma once

#include <string>

namespace lockstep {

// Throws a DataError that names the file and says what is wrong with it.
void check_zip(const std::string& path);

}  // namespace lockstep
