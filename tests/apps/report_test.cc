// The report as a browser shows it: Chromium without a window opens the page, and a script that is
// appended to it looks around and leaves what it saw in the document.
#include <fstream>
#include <sstream>

#include "lockstep/base/json_lines.h"
#include "tests/apps/program.h"
#include "tests/experiment/runs_on_disk.h"
#include "tests/train/run_folder.h"

namespace lockstep {
namespace {

using testing::HasSubstr;
using testing::Not;

class Report : public FolderTest {
 protected:
  void write_runs(int lines, int seeds, int points) {
    for (int i = 0; i < lines; ++i) {
      for (int seed = 1; seed <= seeds; ++seed) {
        std::vector<double> accuracies;
        for (int j = 1; j <= points; ++j) {
          accuracies.push_back(std::max(0.0, 0.9 * j / points - 0.001 * i + 0.002 * seed));
        }
        write_run(
            path("runs/" + std::to_string(i) + "-" + std::to_string(seed)),
            {"cluster.workers=" + std::to_string(i + 1), "train.seed=" + std::to_string(seed)},
            accuracies);
      }
    }
  }

  std::string make_report() {
    const Outcome outcome = lockstep("report " + path("runs") + " -o " + path("report.html"));
    EXPECT_EQ(outcome.code, 0) << outcome.text;
    std::stringstream text;
    text << std::ifstream(path("report.html")).rdbuf();
    return text.str();
  }

  // The document after its scripts have run, and what went to the console.
  std::string show(std::string page, const std::string& size = "1200,2000") {
    const std::string look = R"(<script>
addEventListener("load", () => {
  const pixels = (id) => {
    const canvas = document.getElementById(id);
    if (!canvas || !canvas.width) return -1;
    const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    let count = 0;
    for (let i = 3; i < data.length; i += 4) count += data[i] > 0;
    return count;
  };
  const drawn = () => document.getElementById("curves").toDataURL();
  const buttons = [...document.querySelectorAll("#axes button")];
  const changes = buttons.slice(1).map((button) => {
    const old = drawn();
    [...document.querySelectorAll("#axes button")]
      .find((one) => one.textContent === button.textContent).click();
    return drawn() !== old;
  });
  const table = [...document.querySelectorAll("#results tr")].map((row) =>
    [...row.children].map((cell) => cell.textContent));
  const seen = document.createElement("pre");
  seen.id = "seen";
  seen.textContent = JSON.stringify({
    curves: pixels("curves"), phases: pixels("phases"), table, changes,
    wide: document.documentElement.scrollWidth > innerWidth,
    ready: performance.now()});
  document.body.append(seen);
});
</script>)";
    page.insert(page.rfind("</body>"), look);
    std::ofstream(path("looked-at.html")) << page;
    const std::string command =
        std::string("'") + LOCKSTEP_CHROMIUM +
        "' --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir=" +
        path("browser") + " --enable-logging=stderr --window-size=" + size +
        " --virtual-time-budget=8000 --dump-dom file://" + path("looked-at.html") + " 2>" +
        path("console");
    std::string document;
    FILE* pipe = popen(command.c_str(), "r");
    std::array<char, 4096> buffer;
    while (const std::size_t n = fread(buffer.data(), 1, buffer.size(), pipe)) {
      document.append(buffer.data(), n);
    }
    EXPECT_EQ(pclose(pipe), 0);
    std::stringstream console;
    console << std::ifstream(path("console")).rdbuf();
    EXPECT_THAT(console.str(), Not(HasSubstr("CONSOLE")));
    return document;
  }

  static Json seen_in(const std::string& document) {
    const std::string mark = "<pre id=\"seen\">";
    const auto begin = document.find(mark);
    EXPECT_NE(begin, std::string::npos) << document.substr(0, 2000);
    if (begin == std::string::npos) return {};
    const auto end = document.find("</pre>", begin);
    std::string text = document.substr(begin + mark.size(), end - begin - mark.size());
    for (const auto& [from, to] :
         {std::pair("&lt;", "<"), std::pair("&gt;", ">"), std::pair("&amp;", "&")}) {
      for (auto at = text.find(from); at != std::string::npos; at = text.find(from)) {
        text.replace(at, std::string(from).size(), to);
      }
    }
    return Json::parse(text);
  }
};

TEST_F(Report, ABrowserShowsChartsAndTheNumbersOfTheJson) {
  write_runs(3, 3, 10);
  const Json seen = seen_in(show(make_report()));
  EXPECT_GT(seen["curves"].get<int>(), 2000);
  EXPECT_GT(seen["phases"].get<int>(), 2000);
  EXPECT_EQ(seen["changes"], Json({true, true, true, true})) << "of samples, seconds, bytes, zoom";
  const Json json = Json::parse(lockstep("report --format json " + path("runs"), "").text);
  ASSERT_EQ(seen["table"].size(), json["lines"].size() + 1);
  for (std::size_t i = 0; i < json["lines"].size(); ++i) {
    const Json& line = json["lines"][i];
    const Json& row = seen["table"][i + 1];
    EXPECT_EQ(row[0], line["label"]);
    EXPECT_EQ(row[2].get<std::string>(),
              fmt::format("{:.2f} ± {:.2f} %", line["accuracy"]["mean"].get<double>(),
                          line["accuracy"]["sample_std"].get<double>()));
  }
}

TEST_F(Report, FitsAPhone) {
  write_runs(4, 2, 5);
  const Json seen = seen_in(show(make_report(), "500,900"));
  EXPECT_FALSE(seen["wide"].get<bool>()) << "the page would have to be moved sideways";
  EXPECT_GT(seen["curves"].get<int>(), 1000);
}

TEST_F(Report, ManyLongRunsMakeASmallPage) {
  write_runs(100, 5, 1000);
  const std::string page = make_report();
  EXPECT_LT(page.size(), 5u << 20);
  const Json seen = seen_in(show(page));
  EXPECT_EQ(seen["table"].size(), 101u);
  EXPECT_GT(seen["curves"].get<int>(), 2000);
}

}  // namespace
}  // namespace lockstep
