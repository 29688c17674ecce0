#include <gtest/gtest.h>

#include "apps/all_reduce_trace.h"
#include "lockstep/base/random.h"

namespace lockstep {
namespace {

std::vector<Values> random_rows(int ranks, std::size_t n) {
  std::vector<Values> rows(static_cast<std::size_t>(ranks), Values(n));
  Random random(1, "rows", static_cast<std::uint64_t>(ranks), n);
  for (auto& row : rows) {
    for (float& value : row) value = static_cast<float>(random.uniform(-10, 10));
  }
  return rows;
}

class Trace : public testing::TestWithParam<std::string> {
 protected:
  std::vector<TracedStep> trace(ReduceOp op, const std::vector<Values>& rows) {
    std::string findings;
    return trace_all_reduce([&] { return Registry<AllReduce>::instance().make(GetParam()); }, op,
                            rows, findings);
  }
};

// So steps mean what they say: they could not be fewer, and all messages of one fly together.
TEST_P(Trace, WhatARankSendsInAStepItHadBeforeTheStep) {
  for (const int ranks : {2, 3, 4, 5, 7, 8}) {
    const auto rows = random_rows(ranks, 11);
    const std::vector<Values>* before = &rows;
    const auto steps = trace(ReduceOp::kSum, rows);
    for (const auto& step : steps) {
      for (const auto& message : step.messages) {
        ASSERT_FALSE(message.sent.empty()) << step.phase << ": received, but not sent in this step";
        if (message.offset < 0) continue;
        const auto& sender = (*before)[static_cast<std::size_t>(message.from)];
        const auto begin = sender.begin() + message.offset;
        EXPECT_TRUE(std::equal(message.sent.begin(), message.sent.end(), begin))
            << ranks << " ranks, " << step.phase << " " << step.index;
      }
      before = &step.vectors;
    }
  }
}

TEST_P(Trace, TheLastStepLeavesTheReductionEverywhere) {
  for (const int ranks : {2, 3, 5, 8}) {
    const auto rows = random_rows(ranks, 7);
    const auto steps = trace(ReduceOp::kMax, rows);
    ASSERT_FALSE(steps.empty());
    for (const auto& row : steps.back().vectors) {
      for (std::size_t i = 0; i < row.size(); ++i) {
        float most = rows[0][i];
        for (const auto& other : rows) most = std::max(most, other[i]);
        EXPECT_EQ(row[i], most);
      }
    }
  }
}

TEST_P(Trace, HasAsManyStepsAndBytesAsTheCostSays) {
  if (GetParam() == "auto") {  // measures, so that what it costs is known only afterwards
    EXPECT_FALSE(trace(ReduceOp::kSum, random_rows(4, 12)).empty());
    return;
  }
  for (const int ranks : {2, 3, 4, 7, 8}) {
    const auto steps = trace(ReduceOp::kSum, random_rows(ranks, 12));
    std::size_t bytes = 0;
    for (const auto& step : steps) {
      for (const auto& message : step.messages) bytes += message.sent.size() * sizeof(float);
    }
    const Cost cost = Registry<AllReduce>::instance().make(GetParam())->cost(ranks, 12);
    EXPECT_EQ(static_cast<int>(steps.size()), cost.steps) << ranks;
    EXPECT_EQ(bytes, cost.bytes_all) << ranks;
  }
}

INSTANTIATE_TEST_SUITE_P(AllReduce, Trace,
                         testing::ValuesIn(Registry<AllReduce>::instance().names()),
                         [](const auto& chosen) {
                           std::string name = chosen.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace lockstep
