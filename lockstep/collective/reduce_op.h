// The operators of a reduction and the loops that apply them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

enum class ReduceOp { kSum, kMean, kMax, kMin };

ReduceOp parse_reduce_op(std::string_view name);  // ConfigError with the valid names
const char* to_string(ReduceOp op);
std::vector<std::string> reduce_op_names();

// What an algorithm does to elements: combines with `op`, and divides once, by whoever holds the
// finished element first. A mean over M ranks is a sum with divisor M, also when parts of the
// algorithm run in smaller groups.
struct Reduction {
  ReduceOp op = ReduceOp::kSum;  // never kMean here
  float divisor = 1;

  static Reduction over(ReduceOp op, int ranks);
  Reduction undivided() const { return {op, 1}; }
};

// into[i] = op(into[i], from[i]). A NaN on either side stays, for max and min too.
void combine(ReduceOp op, std::span<float> into, std::span<const float> from);
// data[i] /= divisor; does nothing when the divisor is 1.
void finish(const Reduction& reduction, std::span<float> data);

}  // namespace lockstep
