#include "lockstep/collective/reduce_op.h"

#include "lockstep/base/error.h"
#include "lockstep/base/text.h"

// The loops are compiled twice and the right one is taken when the program starts. Neither changes
// the result: only one operation a lane, no reordering. Sanitizers run before that choice works.
#if defined(__x86_64__) && !defined(LOCKSTEP_SANITIZED)
#define LOCKSTEP_VECTORISED __attribute__((target_clones("avx2", "default"), optimize("O3")))
#else
#define LOCKSTEP_VECTORISED
#endif

namespace lockstep {
namespace {

LOCKSTEP_VECTORISED
void add_loop(float* __restrict into, const float* __restrict from, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) into[i] += from[i];
}

LOCKSTEP_VECTORISED
void max_loop(float* __restrict into, const float* __restrict from, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    const float a = into[i], b = from[i];
    into[i] = (a > b) | (a != a) ? a : b;
  }
}

LOCKSTEP_VECTORISED
void min_loop(float* __restrict into, const float* __restrict from, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    const float a = into[i], b = from[i];
    into[i] = (a < b) | (a != a) ? a : b;
  }
}

LOCKSTEP_VECTORISED
void divide_loop(float* data, float divisor, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) data[i] /= divisor;
}

}  // namespace

std::vector<std::string> reduce_op_names() {
  return {"sum", "mean", "max", "min"};
}

const char* to_string(ReduceOp op) {
  constexpr const char* kNames[] = {"sum", "mean", "max", "min"};
  return kNames[static_cast<int>(op)];
}

ReduceOp parse_reduce_op(std::string_view name) {
  for (const ReduceOp op : {ReduceOp::kSum, ReduceOp::kMean, ReduceOp::kMax, ReduceOp::kMin}) {
    if (name == to_string(op)) return op;
  }
  throw ConfigError("{}", unknown_name("operator", name, reduce_op_names()));
}

Reduction Reduction::over(ReduceOp op, int ranks) {
  if (op == ReduceOp::kMean) return {ReduceOp::kSum, static_cast<float>(ranks)};
  return {op, 1};
}

void combine(ReduceOp op, std::span<float> into, std::span<const float> from) {
  LOCKSTEP_CHECK(into.size() == from.size(), "{} and {} elements", into.size(), from.size());
  switch (op) {
    case ReduceOp::kSum:
      return add_loop(into.data(), from.data(), into.size());
    case ReduceOp::kMax:
      return max_loop(into.data(), from.data(), into.size());
    case ReduceOp::kMin:
      return min_loop(into.data(), from.data(), into.size());
    case ReduceOp::kMean:
      break;
  }
  LOCKSTEP_CHECK(false, "a mean is a sum with a divisor");
}

void finish(const Reduction& reduction, std::span<float> data) {
  if (reduction.divisor != 1) divide_loop(data.data(), reduction.divisor, data.size());
}

}  // namespace lockstep
