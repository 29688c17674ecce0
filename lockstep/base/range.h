// A part of a vector.
#pragma once

#include <cstddef>
#include <span>

namespace lockstep {

struct Range {
  std::size_t begin = 0;
  std::size_t size = 0;
  constexpr std::size_t end() const { return begin + size; }
  bool operator==(const Range&) const = default;
};

template <typename T>
std::span<T> slice(std::span<T> data, Range range) {
  return data.subspan(range.begin, range.size);
}

}  // namespace lockstep
