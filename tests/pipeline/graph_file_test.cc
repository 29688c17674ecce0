// Graphs from files: wrong ones are named, damaged ones harmless.
#include <gmock/gmock.h>

#include "lockstep/base/error.h"
#include "lockstep/base/file.h"
#include "lockstep/base/random.h"
#include "lockstep/pipeline/operator_graph.h"

namespace lockstep {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Graphs, DamageIsHarmless) {
  const std::string whole =
      read_text_file(LOCKSTEP_EXAMPLES "/graphs/branching_cnn.toml", 1 << 20).substr(0, 1500);
  Random random(2, "damage", 0, 0);
  int refused = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string text = whole.substr(0, random.below(whole.size()));
    for (std::uint64_t j = random.below(4); j > 0 && !text.empty(); --j) {
      text[random.below(text.size())] = static_cast<char>(random.below(256));
    }
    try {
      parse_graph(text, "g.toml");
    } catch (const ConfigError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 100);
}

TEST(Graphs, WrongOnesAreNamedWithTheirLine) {
  const auto error = [](const std::string& text) -> std::string {
    try {
      parse_graph(text, "g.toml");
    } catch (const ConfigError& wrong) {
      return wrong.what();
    }
    return "nothing was wrong";
  };
  const std::string a = "[[operator]]\nname = \"a\"\n";
  EXPECT_THAT(error(""), HasSubstr("no [[operator]]"));
  EXPECT_THAT(error("operator = 3"), HasSubstr("g.toml:1: operator must be a list"));
  EXPECT_THAT(error("[[operator]]\nseconds = 1\n"), HasSubstr("needs a name"));
  EXPECT_THAT(error(a + a), HasSubstr("twice"));
  EXPECT_THAT(error(a + "secnds = 1\n"), HasSubstr("g.toml:3"));
  EXPECT_THAT(error(a + "seconds = -1\n"), HasSubstr("seconds must be from 0"));
  EXPECT_THAT(error(a + "seconds = \"3 parsecs\"\n"), HasSubstr("g.toml:3: seconds"));
  EXPECT_THAT(error(a + "memory = \"lots\"\n"), HasSubstr("g.toml:3: memory"));
  EXPECT_THAT(error(a + "inputs = [{from = \"z\"}]\n"), HasSubstr("no operator \"z\""));
  EXPECT_THAT(error(a + "inputs = [{bytes = 3}]\n"), HasSubstr("needs `from`"));
  EXPECT_THAT(error(a + "inputs = [{from = \"b\"}]\n[[operator]]\nname = \"b\"\ninputs = [{from = "
                        "\"a\"}]\n"),
              HasSubstr("a → b → a"));
  EXPECT_THAT(error(a + "inputs = [{from = \"a\"}]\n"), HasSubstr("a → a"));
  EXPECT_THAT(error(a + "seconds = true\n"), HasSubstr("a number or a text such as \"3ms\""));
  EXPECT_THAT(error("[[operator]]\nname = \"a\\u001b\"\n"), HasSubstr("of one line"));
  const OperatorGraph graph =
      parse_graph(a + "seconds = \"2ms\"\nmemory = \"3K\"\n[[operator]]\nname = \"b\"\ninputs = "
                      "[{from = \"a\", bytes = \"1K\"}]\n",
                  "g.toml");
  EXPECT_DOUBLE_EQ(graph.operators[0].seconds, 0.002);
  EXPECT_DOUBLE_EQ(graph.operators[0].memory, 3072);
  EXPECT_THAT(graph.order, ElementsAre(0, 1));
}

TEST(Graphs, LongCyclesAreCutShort) {
  OperatorGraph graph;
  for (std::size_t i = 0; i < 50000; ++i) {
    graph.operators.push_back({std::to_string(i), 1, 0, {{(i + 49999) % 50000, 1}}});
  }
  try {
    connect(graph);
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_LT(std::string(error.what()).size(), 200u) << error.what();
    EXPECT_THAT(error.what(), HasSubstr(" → …"));
  }
}

}  // namespace
}  // namespace lockstep
