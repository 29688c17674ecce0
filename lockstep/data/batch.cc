#include "lockstep/data/batch.h"

namespace lockstep {

std::size_t DataShape::values() const {
  std::size_t product = 1;
  for (const auto extent : sample) product *= static_cast<std::size_t>(extent);
  return product;
}

std::size_t DataShape::labels_per_sample() const {
  return kind == Kind::kTokens ? values() : 1;
}

}  // namespace lockstep
