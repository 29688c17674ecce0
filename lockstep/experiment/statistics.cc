#include "lockstep/experiment/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <boost/math/distributions/students_t.hpp>

#include "lockstep/base/error.h"

namespace lockstep {
namespace {

double square(double x) {
  return x * x;
}

double tail_probability(double t, double degrees, Tail tail) {
  const boost::math::students_t distribution(degrees);
  const auto above = [&](double x) {
    if (std::isinf(x)) return x > 0 ? 0.0 : 1.0;
    return boost::math::cdf(boost::math::complement(distribution, x));
  };
  if (tail == Tail::kGreater) return above(t);
  if (tail == Tail::kLess) return above(-t);
  return 2 * above(std::abs(t));
}

double pooled_variance(const Spread& a, const Spread& b) {
  const double n = static_cast<double>(a.count) - 1, m = static_cast<double>(b.count) - 1;
  return (n * square(a.sample_std) + m * square(b.sample_std)) / (n + m);
}

}  // namespace

double Spread::population_std() const {
  if (count < 2) return 0;
  const auto n = static_cast<double>(count);
  return sample_std * std::sqrt((n - 1) / n);
}

Spread spread_of(std::span<const double> values) {
  Spread spread;
  spread.count = values.size();
  if (values.empty()) return spread;
  const auto n = static_cast<double>(values.size());
  spread.mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double value : values) squares += square(value - spread.mean);
  if (values.size() > 1) spread.sample_std = std::sqrt(squares / (n - 1));
  const auto [least, most] = std::ranges::minmax_element(values);
  spread.least = *least;
  spread.most = *most;
  return spread;
}

Spread published_spread(std::size_t count, double mean, double std, Deviation kind) {
  Spread spread{.count = count, .mean = mean, .sample_std = std, .least = mean, .most = mean};
  if (kind == Deviation::kPopulation && count > 1) {
    const auto n = static_cast<double>(count);
    spread.sample_std = std * std::sqrt(n / (n - 1));
  }
  return spread;
}

Interval confidence_interval(const Spread& spread, double confidence) {
  LOCKSTEP_CHECK(confidence > 0 && confidence < 1, "confidence {}", confidence);
  if (spread.count < 2) return {spread.mean, spread.mean};
  const auto n = static_cast<double>(spread.count);
  const boost::math::students_t distribution(n - 1);
  const double t = boost::math::quantile(distribution, 0.5 + confidence / 2);
  const double half = t * spread.sample_std / std::sqrt(n);
  return {spread.mean - half, spread.mean + half};
}

TestResult t_test(const Spread& a, const Spread& b, MeanTest test, Tail tail) {
  TestResult result;
  if (a.count < 2 || b.count < 2) return result;
  result.possible = true;
  const auto n = static_cast<double>(a.count), m = static_cast<double>(b.count);
  double error = 0;  // squared, of the difference
  if (test == MeanTest::kStudent) {
    error = pooled_variance(a, b) * (1 / n + 1 / m);
    result.degrees = n + m - 2;
  } else {
    const double va = square(a.sample_std) / n, vb = square(b.sample_std) / m;
    error = va + vb;
    // Welch and Satterthwaite's.
    result.degrees =
        error > 0 ? square(error) / (square(va) / (n - 1) + square(vb) / (m - 1)) : n + m - 2;
  }
  const double difference = a.mean - b.mean;
  // Runs without any spread: equal, or certainly different.
  const double infinite = std::numeric_limits<double>::infinity();
  if (error > 0) {
    result.t = difference / std::sqrt(error);
  } else {
    result.t = difference == 0 ? 0 : std::copysign(infinite, difference);
  }
  result.p = tail_probability(result.t, result.degrees, tail);
  return result;
}

double effect_size(const Spread& a, const Spread& b) {
  if (a.count < 2 || b.count < 2) return 0;
  const double deviation = std::sqrt(pooled_variance(a, b));
  if (deviation == 0) return 0;
  const double degrees = static_cast<double>(a.count + b.count) - 2;
  return (a.mean - b.mean) / deviation * (1 - 3 / (4 * degrees - 1));
}

std::vector<double> holm(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return p[i]; });
  std::vector<double> corrected(p.size());
  double greatest = 0;  // later ones are never smaller
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const auto left = static_cast<double>(p.size() - rank);
    greatest = std::max(greatest, std::min(1.0, left * p[order[rank]]));
    corrected[order[rank]] = greatest;
  }
  return corrected;
}

}  // namespace lockstep
