#include "lockstep/assign/sharing.h"

#include "lockstep/base/divisors.h"
#include "lockstep/base/error.h"

namespace lockstep {

std::vector<SampleId> deal(std::span<const SampleId> samples, int hands, int hand) {
  std::vector<SampleId> dealt;
  const auto step = static_cast<std::size_t>(hands);
  dealt.reserve(samples.size() / step + 1);
  for (auto i = static_cast<std::size_t>(hand); i < samples.size(); i += step) {
    dealt.push_back(samples[i]);
  }
  return dealt;
}

Shards hand_out(std::span<const SampleId> samples, std::span<const int> holders, int workers) {
  LOCKSTEP_CHECK(samples.size() == holders.size(), "{} holders of {} samples", holders.size(),
                 samples.size());
  Shards shards;
  shards.of.resize(static_cast<std::size_t>(workers));
  for (std::size_t i = 0; i < samples.size(); ++i) {
    shards.of[static_cast<std::size_t>(holders[i])].push_back(samples[i]);
  }
  return shards;
}

void check_divides(const std::string& assignment, const std::string& option, int value, int number,
                   const std::string& of_what) {
  if (value >= 1 && value <= number && number % value == 0) return;
  throw ConfigError("assignment {}: {} = {} does not divide the {} {}; it must be {}", assignment,
                    option, value, number, of_what, divisors_in_words(number));
}

void check_copies(const std::string& assignment, int copies, int workers) {
  if (copies <= workers) return;
  throw ConfigError("assignment {}: {} copies do not fit on {} worker{}; copies must be 1 to {}",
                    assignment, copies, workers, workers == 1 ? "" : "s", workers);
}

void add_copies_option(OptionSet& options) {
  options.integer("copies", 2, "C, on how many workers each sample is").at_least(1).at_most(1e6);
}

}  // namespace lockstep
