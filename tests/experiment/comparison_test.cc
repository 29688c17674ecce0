// Tables and curves against the files that they come from, computed again here.
#include "lockstep/experiment/comparison.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>

#include "lockstep/base/error.h"
#include "lockstep/base/file.h"
#include "lockstep/experiment/report_json.h"
#include "lockstep/experiment/report_page.h"
#include "lockstep/experiment/report_table.h"
#include "lockstep/experiment/run_record.h"
#include "tests/experiment/runs_on_disk.h"
#include "tests/train/run_folder.h"

namespace lockstep {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class ComparisonTest : public FolderTest {
 protected:
  // Three seeds with 1 worker and with 2.
  void write_six() {
    const double finals[2][3] = {{0.80, 0.82, 0.84}, {0.90, 0.91, 0.92}};
    for (int i = 0; i < 2; ++i) {
      for (int seed = 0; seed < 3; ++seed) {
        write_run(path(fmt::format("runs/{}-{}", i, seed)),
                  {fmt::format("cluster.workers={}", i + 1), fmt::format("train.seed={}", seed)},
                  {0.5, 0.7 + 0.01 * seed, finals[i][seed]});
      }
    }
  }
};

TEST_F(ComparisonTest, RunsThatDifferInTheirSeedsAreOneLine) {
  write_six();
  const Comparison comparison = compare({path("runs")}, {});
  ASSERT_THAT(comparison.lines, SizeIs(2));
  EXPECT_THAT(comparison.lines[0].runs, SizeIs(3));
  EXPECT_EQ(comparison.lines[0].label, "workers=1");
  EXPECT_EQ(comparison.lines[1].label, "workers=2");
  EXPECT_THAT(comparison.remarks, SizeIs(0));
}

TEST_F(ComparisonTest, EpochsOfDifferentLengthsAreNoticed) {
  write_six();
  EXPECT_TRUE(compare({path("runs")}, {}).epochs_alike);
  const RunPaths paths{path("runs/3-0")};
  write_run(paths.root, {"cluster.workers=4"}, {0.5, 0.6});
  std::string text = read_text_file(paths.metrics(), 1 << 20);
  for (auto at = text.find("\"samples\":"); at != std::string::npos;
       at = text.find("\"samples\":", at + 1)) {
    text.insert(at + 10, "4");  // 41000 instead of 1000: every sample on four workers
  }
  std::ofstream(paths.metrics()) << text;
  EXPECT_FALSE(compare({path("runs")}, {}).epochs_alike);
}

TEST_F(ComparisonTest, NumbersAreThoseOfTheFiles) {
  write_six();
  const Comparison comparison = compare({path("runs")}, {.target = 81.0});
  const Line& line = comparison.lines[0];
  EXPECT_NEAR(line.accuracy.mean, 82, 1e-9);
  EXPECT_NEAR(line.accuracy.sample_std, 2, 1e-9);
  ASSERT_THAT(line.band, SizeIs(3));
  EXPECT_NEAR(line.band[1].mean, 0.71, 1e-12);
  EXPECT_NEAR(line.band[1].std, 0.01, 1e-12);
  EXPECT_NEAR(line.band[1].seconds, 20, 1e-12);
  EXPECT_EQ(line.to_target.reached, 2u);  // 82 and 84
  EXPECT_NEAR(line.to_target.seconds.mean, 30, 1e-12);
  EXPECT_NEAR(line.to_target.bytes.mean, 3e6, 1e-6);
  const TableRows table = result_table(comparison);
  const auto at = [&](const std::string& name) {
    return table[1][static_cast<std::size_t>(std::ranges::find(table[0], name) - table[0].begin())];
  };
  EXPECT_EQ(at("reached to 81 %"), "2 of 3");
  EXPECT_EQ(at("samples to 81 %"), "3000 ± 0");
  ASSERT_TRUE(comparison.lines[1].against_baseline);
  const TestResult expected =
      t_test(comparison.lines[1].accuracy, line.accuracy, MeanTest::kWelch, Tail::kTwo);
  EXPECT_EQ(comparison.lines[1].against_baseline->test.p, expected.p);
  EXPECT_FALSE(line.against_baseline);
  // 5 s of computing in 30 steps, of it 2 of forward; the same on both workers.
  const auto& phases = line.runs[0].phases;
  ASSERT_GE(phases.size(), 3u);
  EXPECT_STREQ(phases[1].name, "forward");
  EXPECT_NEAR(phases[1].seconds, 2.0 / 30, 1e-12);
  EXPECT_NEAR(phases[2].seconds, 3.0 / 30, 1e-12);
}

TEST_F(ComparisonTest, AnyMetricAndAnyBaseline) {
  write_six();
  const Comparison test = compare({path("runs")}, {.metric = Metric::kTest});
  EXPECT_NEAR(test.lines[0].accuracy.mean, 41, 1e-9);
  const Comparison other = compare({path("runs")}, {.baseline = "workers=2"});
  EXPECT_EQ(other.baseline, 1u);
  EXPECT_TRUE(other.lines[0].against_baseline);
  EXPECT_THROW(compare({path("runs")}, {.baseline = "workers=3"}), ConfigError);
}

TEST_F(ComparisonTest, UnfinishedRunsHaveCurvesButNoResults) {
  write_run(path("runs/a"), {"cluster.workers=1"}, {0.5, 0.6});
  write_run(path("runs/b"), {"cluster.workers=2"}, {0.5}, false);
  const Comparison comparison = compare({path("runs")}, {});
  EXPECT_EQ(comparison.lines[1].accuracy.count, 0u);
  EXPECT_THAT(comparison.lines[1].band, SizeIs(1));
  ASSERT_THAT(comparison.remarks, SizeIs(1));
  EXPECT_THAT(comparison.remarks[0], HasSubstr("not finished"));
  EXPECT_NO_THROW(result_table(comparison));
}

TEST_F(ComparisonTest, OfTwoAlikeTheFinishedOneCounts) {
  write_run(path("runs/a"), {}, {0.5}, false);
  write_run(path("runs/b"), {}, {0.5, 0.6});
  const Comparison comparison = compare({path("runs")}, {});
  ASSERT_THAT(comparison.lines, SizeIs(1));
  EXPECT_EQ(comparison.lines[0].accuracy.count, 1u);
  EXPECT_THAT(comparison.remarks.back(), HasSubstr("runs/a was left out"));
}

TEST_F(ComparisonTest, EveryLineHasANameOfItsOwn) {
  write_run(path("a/run"), {}, {0.5});
  write_run(path("b/run"),
            {"cluster.workers=2", "train.epochs=3", "optim.lr=0.5", "train.local_batch=9",
             "train.log_every=7"},
            {0.5});
  const Comparison comparison = compare({path("a"), path("b")}, {});
  ASSERT_THAT(comparison.lines, SizeIs(2));
  EXPECT_NE(comparison.lines[0].label, comparison.lines[1].label);
}

// Where workers are not in step, samples are counted now and then; steps always are.
TEST_F(ComparisonTest, ValidationsAreToldApartByTheirSteps) {
  const RunPaths paths{path("run")};
  write_run(paths.root, {}, {0.5});
  JsonLines lines(paths.metrics());
  for (const double step : {10, 20, 20, 30}) {
    lines.write({{"step", step}, {"samples", 0}, {"validation_accuracy", step / 100}});
  }
  lines.write({{"step", 40}, {"samples", 0}, {"validation_accuracy", nullptr}});
  const RunRecord record = read_run_record(paths.root);
  ASSERT_THAT(record.curve, SizeIs(3));
  EXPECT_EQ(record.curve[2].accuracy, 0.3) << "what is no number is no accuracy";
}

TEST_F(ComparisonTest, FilesThatNeverEndAreLeftOut) {
  write_run(path("runs/a"), {}, {0.5});
  write_run(path("runs/b"), {"cluster.workers=2"}, {0.5});
  std::filesystem::remove(RunPaths{path("runs/b")}.metrics());
  ASSERT_EQ(mkfifo(RunPaths{path("runs/b")}.metrics().c_str(), 0600), 0);
  const Comparison comparison = compare({path("runs")}, {});
  EXPECT_THAT(comparison.lines, SizeIs(1));
  EXPECT_THAT(comparison.remarks, SizeIs(1));
}

TEST_F(ComparisonTest, DamagedRunsAreLeftOutAndNamed) {
  write_run(path("runs/a"), {}, {0.5});
  write_run(path("runs/b"), {"cluster.workers=2"}, {0.5});
  std::ofstream(RunPaths{path("runs/b")}.summary()) << "{\"by_worker\": [{}]}";
  const Comparison comparison = compare({path("runs")}, {});
  EXPECT_THAT(comparison.lines, SizeIs(1));
  ASSERT_THAT(comparison.remarks, SizeIs(1));
  EXPECT_THAT(comparison.remarks[0], HasSubstr("left out"));
}

TEST_F(ComparisonTest, SaysWhenThereIsNothing) {
  std::filesystem::create_directories(path("empty"));
  EXPECT_THROW(compare({path("empty")}, {}), ConfigError);
  EXPECT_THROW(compare({path("nowhere")}, {}), ConfigError);
}

TEST_F(ComparisonTest, EveryFormTellsTheSame) {
  write_six();
  const Comparison comparison = compare({path("runs")}, {});
  const Json json = to_json(comparison);
  EXPECT_NEAR(json["lines"][0]["accuracy"]["mean"].get<double>(), 82, 1e-9);
  EXPECT_NEAR(json["lines"][0]["accuracy"]["population_std"].get<double>(), 2 * std::sqrt(2 / 3.0),
              1e-9);
  EXPECT_THAT(json["lines"][0]["curve"]["mean"].get<std::vector<double>>(),
              ElementsAre(50, 71, 82));
  EXPECT_THAT(to_markdown(comparison), HasSubstr("| workers=1 | 3 | 82.00 ± 2.00 % |"));
  EXPECT_THAT(to_csv(comparison), HasSubstr("workers=2"));
  EXPECT_THAT(to_terminal(comparison), HasSubstr("82.00 ± 2.00 %"));
  const std::string page = report_page(comparison);
  EXPECT_THAT(page, HasSubstr("82.00 ± 2.00 %"));
  EXPECT_THAT(page, ::testing::Not(HasSubstr("{{")));
  EXPECT_THAT(page, ::testing::Not(HasSubstr("http://")));
}

TEST_F(ComparisonTest, NamesCannotBreakOutOfThePage) {
  const std::string evil = "</script><script>alert(1)</script><!--";
  write_run(path("runs/a"), {"cluster.workers=1"}, {0.5});
  Comparison comparison = compare({path("runs")}, {});
  comparison.lines[0].label = comparison.title = evil;
  const std::string page = report_page(comparison);
  EXPECT_EQ(page.find("</script><script>alert"), std::string::npos);
  EXPECT_EQ(page.find(evil), std::string::npos);
}

TEST_F(ComparisonTest, LongCurvesAreThinnedButKeepTheirEnds) {
  std::vector<double> accuracies;
  for (int i = 0; i < 1000; ++i) accuracies.push_back(i / 1000.0);
  write_run(path("runs/a"), {}, accuracies);
  const Json json = to_json(compare({path("runs")}, {}), 100);
  const auto mean = json["lines"][0]["curve"]["mean"].get<std::vector<double>>();
  EXPECT_LE(mean.size(), 101u);
  EXPECT_EQ(mean.front(), 0);
  EXPECT_EQ(mean.back(), 99.9);
}

TEST(Sparkline, ShowsTheCourse) {
  EXPECT_EQ(sparkline({0, 0.5, 1}, 10, 0, 1), "▁▅█");
  EXPECT_EQ(sparkline({}, 10, 0, 1), "");
  EXPECT_EQ(sparkline({1, 1, 1, 1}, 2, 1, 1), "██");
}

}  // namespace
}  // namespace lockstep
