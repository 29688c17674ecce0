// What divides what: for groups of equal size, and for the sentences that say which would do.
#pragma once

#include <string>
#include <vector>

namespace lockstep {

std::vector<int> divisors(int number);  // rising: 1, 2, 4, 8
// "1, 2, 4 or 8": the divisors of 8.
std::string divisors_in_words(int number);

}  // namespace lockstep
