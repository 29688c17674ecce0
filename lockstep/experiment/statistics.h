// What several runs with different seeds say together, and whether a difference is more than
// chance. Everything is computed from count, mean and deviation, so published tables can be
// compared too.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace lockstep {

// Which standard deviation: of the sample (divides by n − 1, an estimate for all runs there could
// be) or of the population (divides by n, of just these runs).
enum class Deviation { kSample, kPopulation };

struct Spread {
  std::size_t count = 0;
  double mean = 0;
  double sample_std = 0;  // 0 for fewer than two values

  double population_std() const;
  double least = 0, most = 0;  // of the values; the mean where they are not known
};

Spread spread_of(std::span<const double> values);
// Of a published table.
Spread published_spread(std::size_t count, double mean, double std, Deviation kind);

struct Interval {
  double low = 0, high = 0;
};
// Where the mean of all runs lies with this confidence (Student's t). The mean alone for one run.
Interval confidence_interval(const Spread& spread, double confidence);

enum class MeanTest {
  kStudent,  // the two have the same variance
  kWelch,    // they need not
};
enum class Tail {
  kTwo,      // different
  kGreater,  // the first is greater
  kLess,     // the first is less
};

struct TestResult {
  double t = 0;
  double degrees = 0;     // of freedom
  double p = 1;           // how likely such a difference is by chance
  bool possible = false;  // false: fewer than two runs on a side
};
TestResult t_test(const Spread& a, const Spread& b, MeanTest test, Tail tail);

// Hedges' g: the difference in standard deviations (pooled), corrected for few runs.
double effect_size(const Spread& a, const Spread& b);

// Holm's correction of the p values of one table: each as large as its significance must be when
// all of them are asked at once. In the order they came.
std::vector<double> holm(std::span<const double> p);

}  // namespace lockstep
