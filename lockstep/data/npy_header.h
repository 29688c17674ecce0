// The head of a .npy file: where the elements begin, what they are and how many.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

struct NpyHeader {
  std::string type;  // "<f4", "|u1", "<i8" or whatever else stands there
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

inline constexpr std::size_t kNpyPreludeBytes = 12;  // what it takes to know the header's size

// How many bytes stand before the elements, from the first kNpyPreludeBytes of a file (or the whole
// file if it is shorter). `name` names the file in a DataError.
std::size_t npy_elements_begin(std::string_view prelude, const std::string& name);
// `begin` is all bytes before the elements.
NpyHeader parse_npy_header(std::string_view begin, const std::string& name);
// Magic number, version 1.0 and the dictionary, padded so that elements start at a multiple of 64.
std::string make_npy_header(const NpyHeader& header);

}  // namespace lockstep
