#include "lockstep/base/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace lockstep {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

using Style = Progress::Style;

int count(const std::string& text, const std::string& piece) {
  int found = 0;
  for (auto at = text.find(piece); at != std::string::npos; at = text.find(piece, at + 1)) ++found;
  return found;
}

TEST(Progress, WritesPlainLinesWhereThereIsNoTerminal) {
  std::ostringstream out;
  Progress progress("epoch 1", 4, out, Style::kPlain);
  progress.update(1, 0);
  progress.update(2, 10);
  progress.update(4, 40, "loss 0.5");
  EXPECT_EQ(out.str(),
            "epoch 1: 1/4\n"
            "epoch 1: 2/4, 20.00 s left\n"
            "epoch 1: 4/4  loss 0.5\n");
}

TEST(Progress, TakenUpWorkCountsItsPaceFromThere) {
  std::ostringstream out;
  Progress progress("epoch 1", 104, out, Style::kPlain);
  progress.update(100, 0);
  progress.update(102, 10);
  EXPECT_THAT(out.str(), HasSubstr("102/104, 10.00 s left"));
}

TEST(Progress, LinesThatStayStandAboveTheOneThatRedrawsItself) {
  std::ostringstream out;
  {
    Progress progress("epoch 1", 4, out, Style::kTerminal);
    progress.update(1, 0);
    progress.say("halfway");
    EXPECT_THAT(out.str(), testing::EndsWith("\r\x1b[Khalfway\n"));
    progress.update(2, 0.01);  // at once, for its line is gone
  }
  EXPECT_THAT(out.str(), HasSubstr("2/4"));
}

TEST(Progress, RedrawsOneLineInATerminal) {
  std::ostringstream out;
  {
    Progress progress("bench", 4, out, Style::kTerminal);
    progress.update(0, 0);
    progress.update(2, 1, "ring");
    EXPECT_EQ(count(out.str(), "\r\x1b[K"), 2);
    EXPECT_EQ(count(out.str(), "\n"), 0);
    EXPECT_THAT(out.str(), HasSubstr("bench ████████████░░░░░░░░░░░░ 2/4, 1.00 s left  ring"));
    progress.update(4, 2);
  }
  EXPECT_THAT(out.str(), EndsWith("bench ████████████████████████ 4/4\n"));
  EXPECT_EQ(count(out.str(), "\n"), 1);
}

TEST(Progress, EndsATerminalLineThatWorkLeftUnfinished) {
  std::ostringstream out;
  {
    Progress progress("bench", 4, out, Style::kTerminal);
    progress.update(1, 0);
  }
  EXPECT_THAT(out.str(), EndsWith("1/4\n"));
}

TEST(Progress, SaysNothingBeforeTheFirstUpdate) {
  for (const Style style : {Style::kPlain, Style::kTerminal}) {
    std::ostringstream out;
    { Progress progress("bench", 4, out, style); }
    EXPECT_EQ(out.str(), "");
  }
}

// A thousand updates a second for a minute: at most one line each period, and the two ends.
TEST(Progress, DrawsNowAndThenOnly) {
  constexpr int kTotal = 60000;
  struct Case {
    Style style;
    int most;
  };
  for (const auto& [style, most] : {Case{Style::kPlain, 7}, Case{Style::kTerminal, 601}}) {
    std::ostringstream out;
    Progress progress("x", kTotal, out, style);
    for (int i = 0; i <= kTotal; ++i) progress.update(static_cast<std::uint64_t>(i), i * 1e-3);
    const int lines = count(out.str(), "/60000");
    EXPECT_LE(lines, most);
    EXPECT_GE(lines, most * 9 / 10);
    EXPECT_THAT(out.str(), HasSubstr(" 0/60000"));
    EXPECT_THAT(out.str(), HasSubstr("60000/60000"));
  }
}

TEST(Progress, DrawsTheLastHoweverSoonItComesAndOnlyOnce) {
  for (const Style style : {Style::kPlain, Style::kTerminal}) {
    std::ostringstream out;
    Progress progress("x", 2, out, style);
    progress.update(1, 0);
    progress.update(2, 1e-9);
    progress.update(2, 100);
    progress.update(3, 200);
    EXPECT_EQ(count(out.str(), "2/2"), 1);
    EXPECT_EQ(count(out.str(), "\n"), style == Style::kPlain ? 2 : 1);
  }
}

// Simulated clocks begin anywhere; what is left counts from the first update.
TEST(Progress, CountsFromItsFirstUpdate) {
  std::ostringstream out;
  Progress progress("x", 100, out, Style::kPlain);
  progress.update(0, 5000);
  progress.update(25, 5010);
  EXPECT_THAT(out.str(), EndsWith("25/100, 30.00 s left\n"));
}

TEST(Progress, NothingToDoIsDone) {
  std::ostringstream out;
  Progress progress("x", 0, out, Style::kTerminal);
  progress.update(0, 0);
  EXPECT_THAT(out.str(), EndsWith("0/0\n"));
  EXPECT_THAT(out.str(), Not(HasSubstr("left")));
}

}  // namespace
}  // namespace lockstep
