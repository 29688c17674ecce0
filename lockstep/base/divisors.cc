#include "lockstep/base/divisors.h"

namespace lockstep {

std::vector<int> divisors(int number) {
  std::vector<int> all;
  for (int d = 1; d <= number; ++d) {
    if (number % d == 0) all.push_back(d);
  }
  return all;
}

std::string divisors_in_words(int number) {
  const std::vector<int> all = divisors(number);
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i > 0) text += i + 1 == all.size() ? " or " : ", ";
    text += std::to_string(all[i]);
  }
  return text;
}

}  // namespace lockstep
