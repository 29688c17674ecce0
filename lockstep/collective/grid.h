// Members in rows and columns. Pure arithmetic.
#pragma once

namespace lockstep {

// The row length of the grid that is most nearly square: the largest divisor of the members that is
// at most their root. A prime number makes one column.
constexpr int row_length(int members) {
  int best = 1;
  for (int x = 2; x * x <= members; ++x) {
    if (members % x == 0) best = x;
  }
  return best;
}

}  // namespace lockstep
