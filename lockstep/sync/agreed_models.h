// What groups of workers know together: the model that their members held alike when they last
// averaged. Differences from it are what compressed averages of models are made of.
#pragma once

#include <vector>

#include "lockstep/base/aligned.h"
#include "lockstep/base/state.h"

namespace lockstep {

class AgreedModels {
 public:
  using Ranks = std::vector<int>;

  // All ranks begin with the same model.
  AgreedModels(Ranks everybody, std::span<const float> model);

  // They hold this one now.
  void agree(const Ranks& members, std::span<const float> model);
  // Takes from the values the latest model that all of these know.
  void take_off(const Ranks& members, std::span<float> values) const;
  // Adds it again: what that gives they all hold now.
  void add_and_agree(const Ranks& members, std::span<float> values);
  void state(StateVisitor& visitor);

 private:
  std::span<const float> known_to(const Ranks& members) const;

  struct Agreed {
    Ranks members;
    AlignedVector<float> model;
  };
  std::vector<Agreed> agreed_;  // the latest last; none that a later one of more members outdates
};

}  // namespace lockstep
