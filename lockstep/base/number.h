// Numbers in which floats travel.
#pragma once

#include <cstddef>

namespace lockstep {

enum class Number { kFloat, kHalf, kBrain };  // 32 bits; IEEE half; the upper half of a float

constexpr std::size_t size_of(Number number) {
  return number == Number::kFloat ? 4 : 2;
}

}  // namespace lockstep
