// Who lives with whom: workers in households, households in neighbourhoods, each of them a run of
// consecutive workers. Pure arithmetic.
#pragma once

#include <vector>

namespace lockstep {

class Arrangement {
 public:
  // A worker count a household, in order; neighbourhoods have equally many households.
  Arrangement(std::vector<int> household_sizes, int neighbourhoods);
  // Households of equal size. Throws a ConfigError that says which counts would do if they do not
  // divide; so for neighbourhoods above.
  static Arrangement equal(int workers, int households, int neighbourhoods);

  int workers() const;
  int households() const { return static_cast<int>(sizes_.size()); }
  int neighbourhoods() const { return neighbourhoods_; }
  bool equal_households() const;

  // The workers that live with this one, itself among them.
  std::vector<int> household_of(int worker) const;
  std::vector<int> neighbourhood_of(int worker) const;

 private:
  // Of groups of so many households.
  std::vector<int> group_of(int worker, int households) const;

  std::vector<int> sizes_;
  int neighbourhoods_;
};

}  // namespace lockstep
