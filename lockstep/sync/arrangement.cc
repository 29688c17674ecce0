#include "lockstep/sync/arrangement.h"

#include <algorithm>
#include <numeric>

#include "lockstep/base/divisors.h"
#include "lockstep/base/error.h"

namespace lockstep {
namespace {

void check_divides(const char* option, int value, int number, const char* of_what) {
  if (value >= 1 && number % value == 0) return;
  throw ConfigError("[sync] {} = {} does not divide the {} {}; it must be {}", option, value,
                    number, of_what, divisors_in_words(number));
}

}  // namespace

Arrangement::Arrangement(std::vector<int> household_sizes, int neighbourhoods)
    : sizes_(std::move(household_sizes)), neighbourhoods_(neighbourhoods) {
  check_divides("neighbourhoods", neighbourhoods_, households(), "households");
}

Arrangement Arrangement::equal(int workers, int households, int neighbourhoods) {
  check_divides("households", households, workers, "workers");
  return {std::vector<int>(static_cast<std::size_t>(households), workers / households),
          neighbourhoods};
}

int Arrangement::workers() const {
  return std::accumulate(sizes_.begin(), sizes_.end(), 0);
}

bool Arrangement::equal_households() const {
  return std::ranges::all_of(sizes_, [&](int size) { return size == sizes_.front(); });
}

std::vector<int> Arrangement::household_of(int worker) const {
  return group_of(worker, 1);
}

std::vector<int> Arrangement::neighbourhood_of(int worker) const {
  return group_of(worker, households() / neighbourhoods_);
}

std::vector<int> Arrangement::group_of(int worker, int households) const {
  int first = 0;
  for (auto at = sizes_.begin(); at != sizes_.end(); at += households) {
    const int size = std::accumulate(at, at + households, 0);
    if (worker < first + size) {
      std::vector<int> members(static_cast<std::size_t>(size));
      std::iota(members.begin(), members.end(), first);
      return members;
    }
    first += size;
  }
  LOCKSTEP_CHECK(false, "worker {} of {}", worker, first);
  return {};
}

}  // namespace lockstep
