#include "lockstep/experiment/formula.h"

#include <gmock/gmock.h>

#include "lockstep/base/error.h"

namespace lockstep {
namespace {

FormulaValue named(const std::string& name) {
  if (name == "cluster.workers") return 4.0;
  if (name == "sync.name") return std::string("local");
  throw ConfigError("no {}", name);
}

double number(const std::string& formula) {
  return std::get<double>(evaluate_formula(formula, named));
}

TEST(Formula, ComputesAsOneIsTaught) {
  EXPECT_EQ(number("1 + 2 * 3"), 7);
  EXPECT_EQ(number("(1 + 2) * 3"), 9);
  EXPECT_EQ(number("10 - 4 - 3"), 3);
  EXPECT_EQ(number("2 ^ 3 ^ 2"), 512);
  EXPECT_EQ(number("-2 ^ 2"), -4);
  EXPECT_EQ(number("7 % 4 + .5"), 3.5);
  EXPECT_EQ(number("128 / cluster.workers"), 32);
  EXPECT_EQ(number("max(1, 3, 2) + min(4, cluster.workers) + floor(2.7) + ceil(0.1)"), 10);
  EXPECT_EQ(number("log2(8) + sqrt(16) + round(2.5)"), 10);
}

TEST(Formula, ComparesAndDecides) {
  EXPECT_TRUE(is_true(evaluate_formula("sync.name == 'local' and cluster.workers > 3", named)));
  EXPECT_FALSE(is_true(evaluate_formula("not (1 < 2) or 3 >= 4", named)));
  EXPECT_TRUE(is_true(evaluate_formula("1 != 2 and 2 <= 2", named)));
  EXPECT_TRUE(is_true(evaluate_formula("\"a\" != 'b'", named)));
}

TEST(Formula, WhatIsDecidedNeedNotHaveAValue) {
  EXPECT_FALSE(is_true(evaluate_formula("sync.name == 'gossip' and sync.period > 8", named)));
  EXPECT_TRUE(is_true(evaluate_formula("sync.name == 'local' or max(sync.k, 1) / 0 > 8", named)));
  EXPECT_TRUE(is_true(evaluate_formula("(0 and no.such) or sync.name == 'local'", named)));
  EXPECT_THROW(evaluate_formula("sync.name == 'local' and sync.period > 8", named), ConfigError);
  EXPECT_THROW(evaluate_formula("0 and (sync.period", named), ConfigError) << "it is still read";
}

TEST(Formula, WordsAreNoPartsOfNames) {
  const auto names = [](const std::string& name) -> FormulaValue {
    return name == "order" || name == "notes" ? 5.0 : 0.0;
  };
  EXPECT_EQ(std::get<double>(evaluate_formula("order + notes", names)), 10);
}

TEST(Formula, SaysWhereItIsWrong) {
  for (const std::string wrong : {"", "1 +", "(1", "1)", "max(", "what(1)", "floor(1, 2)", "1 / 0",
                                  "'open", "5 $ 3", "sync.name + 1", "2 ^ 5000", "1 < 'a'"}) {
    EXPECT_THROW(evaluate_formula(wrong, named), ConfigError) << wrong;
  }
  try {
    evaluate_formula("1 + what(3)", named);
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("what(3)"));
  }
}

TEST(Formula, DeepNestingIsRefusedNotFollowed) {
  EXPECT_THROW(evaluate_formula(std::string(100000, '(') + "1", named), ConfigError);
  EXPECT_THROW(evaluate_formula(std::string(100000, '-') + "1", named), ConfigError);
  std::string negations;
  for (int i = 0; i < 100000; ++i) negations += "not ";
  EXPECT_THROW(evaluate_formula(negations + "1", named), ConfigError);
}

TEST(Formula, WholeNumbersAreWrittenWithoutAPoint) {
  EXPECT_EQ(to_text(FormulaValue(32.0)), "32");
  EXPECT_EQ(to_text(FormulaValue(0.1)), "0.1");
  EXPECT_EQ(to_text(FormulaValue(std::string("x"))), "x");
  EXPECT_EQ(formula_value("0.5"), FormulaValue(0.5));
  EXPECT_EQ(formula_value("5 apples"), FormulaValue(std::string("5 apples")));
}

}  // namespace
}  // namespace lockstep
