#include "lockstep/collective/agreement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/base/error.h"
#include "tests/world_under_test.h"

namespace lockstep {
namespace {

using testing::HasSubstr;

// What every rank is told when rank r has the facts that make(r) gives; "" if they agree.
template <typename Make>
std::string disagreement(Make make) {
  const auto world = world_under_test();
  const int ranks = ranks_under_test({4, 2}).front();
  std::string told;
  world->run(ranks, [&](Transport& transport) {
    Group group(transport);
    try {
      require_agreement(group, make(transport.rank()));
    } catch (const ConfigError& e) {
      if (transport.rank() == 0) told = e.what();
    }
  });
  // On mpi only the process that is rank 0 heard it; the others have nothing to check.
  return world->leads() ? told : "not rank 0";
}

RunFacts facts(const std::string& algorithm, std::size_t size) {
  RunFacts result;
  result.add("model", "resnet");
  result.add("algorithm", algorithm);
  result.add("size", size);
  return result;
}

TEST(Agreement, PassesWhenAllAgree) {
  const std::string told = disagreement([](int) { return facts("ring", 7); });
  EXPECT_TRUE(told.empty() || told == "not rank 0") << told;
}

TEST(Agreement, NamesTheFirstDifferenceAndTheRanks) {
  const std::string told =
      disagreement([](int rank) { return facts(rank == 1 ? "tree" : "ring", rank == 1 ? 8 : 7); });
  if (told == "not rank 0") return;
  EXPECT_THAT(told, HasSubstr("first about algorithm"));
  EXPECT_THAT(told, HasSubstr("rank 1 says \"tree\""));
  EXPECT_THAT(told, HasSubstr("\"ring\""));
  EXPECT_THAT(told, testing::Not(HasSubstr("size")));
}

TEST(Agreement, NamesWhatARankLacks) {
  const std::string told = disagreement([](int rank) {
    RunFacts result = facts("ring", 7);
    if (rank == 0) result.add("next operation", "broadcast");
    return result;
  });
  if (told == "not rank 0") return;
  EXPECT_THAT(told, HasSubstr("next operation"));
  EXPECT_THAT(told, HasSubstr("nothing"));
}

TEST(Agreement, FactsGoThereAndBackAndBrokenOnesDoNoHarm) {
  EXPECT_EQ(RunFacts::parse(facts("ring", 7).text()).size(), 3u);
  EXPECT_EQ(RunFacts::parse(facts("ring", 7).text())[1],
            (std::pair<std::string, std::string>("algorithm", "ring")));
  EXPECT_EQ(RunFacts::parse("no separators at all").size(), 1u);
  EXPECT_TRUE(RunFacts::parse("").empty());
}

}  // namespace
}  // namespace lockstep
