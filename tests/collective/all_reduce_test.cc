// Laws of every all-reduce algorithm, on the world under test.
#include "lockstep/collective/all_reduce.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "lockstep/base/text.h"
#include "lockstep/collective/agreement.h"
#include "lockstep/collective/collectives.h"
#include "lockstep/transport/counting.h"
#include "tests/world_under_test.h"

namespace lockstep {
namespace {

// Sanitizers make every access many times slower; several pieces of a message are enough there.
#ifdef LOCKSTEP_SANITIZED
constexpr std::size_t kLong = 70'003;
const std::vector<int> kRanks{1, 2, 3, 4, 5, 8};
#else
constexpr std::size_t kLong = 1'000'003;
const std::vector<int> kRanks{1, 2, 3, 4, 5, 7, 8, 16};
#endif
const std::vector<std::size_t> kLengths{0, 1, 3, 1000, kLong};
const std::vector<ReduceOp> kOps{ReduceOp::kSum, ReduceOp::kMean, ReduceOp::kMax, ReduceOp::kMin};

// Cheap, and different for every rank and element: in (-100, 100).
AlignedVector<float> input(int rank, std::size_t n) {
  AlignedVector<float> values(n);
  for (std::size_t i = 0; i < n; ++i) {
    std::uint64_t mixed =
        (i + 1) * 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(rank) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ (mixed >> 31)) * 0x94d049bb133111ebu;
    values[i] = static_cast<float>(mixed >> 40) / (1 << 24) * 200 - 100;
  }
  return values;
}

// The reduction in double, and how far a float sum in any order may be from it.
struct Expected {
  std::vector<double> value, tolerance;
};
Expected expected(int ranks, std::size_t n, ReduceOp op) {
  std::vector<double> value(n), tolerance(n, 0);
  for (int rank = 0; rank < ranks; ++rank) {
    const auto x = input(rank, n);
    for (std::size_t i = 0; i < n; ++i) {
      const double v = x[i];
      tolerance[i] += std::abs(v);
      if (rank == 0)
        value[i] = v;
      else if (op == ReduceOp::kMax)
        value[i] = std::max(value[i], v);
      else if (op == ReduceOp::kMin)
        value[i] = std::min(value[i], v);
      else
        value[i] += v;
    }
  }
  const bool exact = op == ReduceOp::kMax || op == ReduceOp::kMin || ranks == 1;
  for (std::size_t i = 0; i < n; ++i) {
    tolerance[i] *= exact ? 0 : ranks * std::numeric_limits<float>::epsilon();
    if (op == ReduceOp::kMean) value[i] /= ranks, tolerance[i] /= ranks;
  }
  return {value, tolerance};
}

std::string bits(std::span<const float> data) {
  return fmt::format("{:016x}",
                     stable_hash({reinterpret_cast<const char*>(data.data()), data.size_bytes()}));
}

// One hash a case, computed on `world`; empty where this process did not run rank 0.
std::vector<std::string> run_all_cases(World& world, const std::string& name, int ranks,
                                       std::size_t longest) {
  std::vector<std::string> hashes;
  world.run(ranks, [&](Transport& transport) {
    Group group(transport);
    const auto algorithm = Registry<AllReduce>::instance().make(name);
    for (const std::size_t n : kLengths) {
      if (n > longest) continue;
      for (const ReduceOp op : kOps) {
        auto data = input(transport.rank(), n);
        algorithm->run(group, data, op);
        if (transport.rank() == 0) hashes.push_back(bits(data));
      }
    }
  });
  return hashes;
}

class EveryAlgorithm : public testing::TestWithParam<std::string> {};

TEST_P(EveryAlgorithm, IsRightAndTheSameOnAllRanks) {
  const auto world = world_under_test();
  for (const int ranks : ranks_under_test(kRanks)) {
    world->run(ranks, [&](Transport& transport) {
      Group group(transport);
      const auto algorithm = Registry<AllReduce>::instance().make(GetParam());
      for (const std::size_t n : kLengths) {
        for (const ReduceOp op : kOps) {
          auto data = input(transport.rank(), n);
          algorithm->run(group, data, op);
          const std::string where =
              fmt::format("{} ranks {} n {} op {}", GetParam(), ranks, n, to_string(op));
          const auto all = all_gather_texts(group, bits(data));
          for (const auto& other : all) ASSERT_EQ(other, all[0]) << where;
          if (transport.rank() != 0) continue;
          const auto right = expected(ranks, n, op);
          std::size_t wrong = 0;
          for (std::size_t i = 0; i < n; ++i) {
            if (!(std::abs(data[i] - right.value[i]) <= right.tolerance[i])) ++wrong;
          }
          ASSERT_EQ(wrong, 0u) << where;
        }
      }
    });
  }
}

TEST_P(EveryAlgorithm, GivesTheBitsOfTheThreadsWorld) {
  const auto world = world_under_test();
  const auto threads = Registry<World>::instance().make("threads");
  for (const int ranks : ranks_under_test({2, 3, 4, 7, 8})) {
    const auto here = run_all_cases(*world, GetParam(), ranks, kLong);
    if (here.empty()) continue;  // this process is not rank 0
    EXPECT_EQ(here, run_all_cases(*threads, GetParam(), ranks, kLong)) << ranks << " ranks";
  }
}

TEST_P(EveryAlgorithm, CostsWhatItSays) {
  const auto world = world_under_test();
  for (const int ranks : ranks_under_test({1, 2, 3, 4, 5, 6, 7, 8, 12, 16})) {
    world->run(ranks, [&](Transport& transport) {
      MessagesOnly messages(transport);
      CountingTransport counting(messages);
      Group group(counting);
      Group plain(transport, Group::kTag + 1);
      const auto algorithm = Registry<AllReduce>::instance().make(GetParam());
      for (const std::size_t n : {0u, 1u, 3u, 17u, 1000u, 100'003u}) {
        AlignedVector<float> data(n, 1.0f);
        counting.reset();
        algorithm->run(group, data, ReduceOp::kSum);
        const auto counts = counting.counts();
        std::vector<float> mine{static_cast<float>(counts.bytes),
                                static_cast<float>(counts.rounds)};
        std::vector<float> all(2 * static_cast<std::size_t>(ranks));
        all_gather(plain, mine, all);
        Cost counted;
        for (std::size_t r = 0; r < all.size(); r += 2) {
          counted.bytes_most = std::max(counted.bytes_most, static_cast<std::size_t>(all[r]));
          counted.bytes_all += static_cast<std::size_t>(all[r]);
          counted.steps = std::max(counted.steps, static_cast<int>(all[r + 1]));
        }
        const Cost stated = algorithm->cost(ranks, n);
        ASSERT_EQ(stated.bytes_most, counted.bytes_most) << ranks << " ranks, n " << n;
        ASSERT_EQ(stated.bytes_all, counted.bytes_all) << ranks << " ranks, n " << n;
        ASSERT_EQ(stated.steps, counted.steps) << ranks << " ranks, n " << n;
      }
    });
  }
}

TEST_P(EveryAlgorithm, WorksOnTwoHalvesAtOnce) {
  const auto world = world_under_test();
  for (const int ranks : ranks_under_test({4, 7})) {
    world->run(ranks, [&](Transport& transport) {
      // Odd and even ranks, the even ones in reverse order.
      std::vector<int> members;
      for (int r = 0; r < ranks; ++r) {
        if (r % 2 == transport.rank() % 2) members.push_back(r);
      }
      if (transport.rank() % 2 == 0) std::reverse(members.begin(), members.end());
      Group group(transport, members);
      const auto algorithm = Registry<AllReduce>::instance().make(GetParam());
      AlignedVector<float> data(5000, static_cast<float>(transport.rank()));
      algorithm->run(group, data, ReduceOp::kSum);
      float sum = 0;
      for (const int member : members) sum += static_cast<float>(member);
      for (const float value : data) ASSERT_EQ(value, sum);
    });
  }
}

// A rank that is still busy with one operation must not be disturbed by the next one.
TEST_P(EveryAlgorithm, ManyInARowDoNotDisturbEachOther) {
  const auto world = world_under_test();
  for (const int ranks : ranks_under_test({2, 4, 5})) {
    world->run(ranks, [&](Transport& transport) {
      Group group(transport);
      const auto algorithm = Registry<AllReduce>::instance().make(GetParam());
      for (int round = 0; round < 300; ++round) {
        AlignedVector<float> data(round % 3 == 0 ? 9 : 3000,
                                  static_cast<float>(transport.rank() + round));
        algorithm->run(group, data, ReduceOp::kMax);
        const auto right = static_cast<float>(ranks - 1 + round);
        for (const float value : data) ASSERT_EQ(value, right) << "round " << round;
      }
    });
  }
}

TEST_P(EveryAlgorithm, DifferentLengthsAreAnErrorNotAResult) {
  for (const int shorter : {0, 1}) {
    try {
      world_under_test(2)->run(2, [&](Transport& transport) {
        Group group(transport);
        AlignedVector<float> data(transport.rank() == shorter ? 1000 : 2000);
        Registry<AllReduce>::instance().make(GetParam())->run(group, data, ReduceOp::kSum);
        // Nobody leaves before the other has noticed.
        barrier(group);
      });
      ADD_FAILURE() << "no error";
    } catch (const CommError&) {
    }
  }
}

TEST_P(EveryAlgorithm, KeepsNaN) {
  const auto world = world_under_test();
  world->run(ranks_under_test({4, 2}).front(), [&](Transport& transport) {
    Group group(transport);
    const auto algorithm = Registry<AllReduce>::instance().make(GetParam());
    for (const ReduceOp op : kOps) {
      AlignedVector<float> data(9, 1.0f);
      if (transport.rank() == 1) data[4] = std::numeric_limits<float>::quiet_NaN();
      algorithm->run(group, data, op);
      for (std::size_t i = 0; i < data.size(); ++i) ASSERT_EQ(std::isnan(data[i]), i == 4);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(AllReduce, EveryAlgorithm,
                         testing::ValuesIn(Registry<AllReduce>::instance().names()),
                         [](const auto& chosen) {
                           std::string name = chosen.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace lockstep
