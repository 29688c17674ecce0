// MNIST (LeCun, Cortes, Burges): 70 000 handwritten digits of 28×28 grey bytes.
#pragma once

#include "lockstep/data/published.h"

namespace lockstep {

const Published& mnist();

}  // namespace lockstep
