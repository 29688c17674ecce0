#include "lockstep/base/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <toml++/toml.h>

#include <cmath>
#include <limits>

#include "lockstep/base/error.h"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

using Reals = std::vector<double>;
using Texts = std::vector<std::string>;

// What a ConfigError of `call` says, or "" if it throws none.
template <typename Call>
std::string complaint(Call call) {
  try {
    call();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

// One option of each type.
OptionSet all_types() {
  OptionSet set;
  set.flag("nesterov", false, "look ahead");
  set.integer("groups", 0, "number of groups").at_least(0).at_most(64);
  set.real("lr", 0.1, "learning rate").above(0).at_most(10);
  set.text("order", "natural", "order of ranks").one_of({"natural", "reversed", "shuffled"});
  set.reals("at", {0.5, 0.75}, "when the rate falls").at_least(0).at_most(1);
  set.texts("hosts", {}, "hosts to use");
  return set;
}

Options fresh() {
  return Options(all_types(), "schedule \"step\"");
}

TEST(Options, BeginAsTheirDefaults) {
  const Options options = fresh();
  EXPECT_FALSE(options.flag("nesterov"));
  EXPECT_EQ(options.integer("groups"), 0);
  EXPECT_EQ(options.real("lr"), 0.1);
  EXPECT_EQ(options.text("order"), "natural");
  EXPECT_THAT(options.reals("at"), ElementsAre(0.5, 0.75));
  EXPECT_THAT(options.texts("hosts"), IsEmpty());
}

TEST(Options, ReadEveryTypeFromText) {
  Options options = fresh();
  options.set("groups", " 4 ");
  options.set("lr", "1e-2");
  options.set("order", "shuffled");
  options.set("at", "[0.25, 1]");
  options.set("hosts", "a, b");
  EXPECT_EQ(options.integer("groups"), 4);
  EXPECT_EQ(options.real("lr"), 0.01);
  EXPECT_EQ(options.text("order"), "shuffled");
  EXPECT_THAT(options.reals("at"), ElementsAre(0.25, 1));
  EXPECT_THAT(options.texts("hosts"), ElementsAre("a", "b"));
  options.set("at", "0.5");
  EXPECT_THAT(options.reals("at"), ElementsAre(0.5));
  options.set("at", "[]");
  EXPECT_THAT(options.reals("at"), IsEmpty());
  for (const char* yes : {"true", "yes", "on", "1", " true "}) {
    options.set("nesterov", "false");
    options.set("nesterov", yes);
    EXPECT_TRUE(options.flag("nesterov")) << yes;
  }
  for (const char* no : {"false", "no", "off", "0"}) {
    options.set("nesterov", "true");
    options.set("nesterov", no);
    EXPECT_FALSE(options.flag("nesterov")) << no;
  }
}

TEST(Options, RefuseTextOfAnotherType) {
  struct Case {
    const char *name, *text, *says;
  };
  for (const auto& [name, text, says] : {
           Case{"nesterov", "maybe", "neither true nor false"},
           Case{"nesterov", "", "neither true nor false"},
           Case{"groups", "two", "not a whole number"},
           Case{"groups", "2.5", "not a whole number"},
           Case{"groups", "", "not a whole number"},
           Case{"groups", "99999999999999999999", "out of range"},
           Case{"lr", "fast", "not a number"},
           Case{"lr", "nan", "must be a number"},
           Case{"at", "0.5,x", "not a number"},
           Case{"at", "0.5,,1", "not a number"},
       }) {
    Options options = fresh();
    EXPECT_THAT(complaint([&] { options.set(name, text); }),
                AllOf(HasSubstr("schedule \"step\""), HasSubstr(name), HasSubstr(says)))
        << name << " = " << text;
    EXPECT_EQ(options.to_toml(), fresh().to_toml()) << "a refused value was kept";
  }
}

TEST(Options, HoldTheirBounds) {
  struct Case {
    const char *name, *text;
    bool ok;
  };
  for (const auto& [name, text, ok] : {
           Case{"groups", "0", true},
           Case{"groups", "64", true},
           Case{"groups", "-1", false},
           Case{"groups", "65", false},
           Case{"lr", "0", false},
           Case{"lr", "1e-300", true},
           Case{"lr", "10", true},
           Case{"lr", "10.01", false},
           Case{"lr", "inf", false},
           Case{"at", "0,1", true},
           Case{"at", "0,1.5", false},
           Case{"at", "nan", false},
       }) {
    Options options = fresh();
    EXPECT_EQ(complaint([&] { options.set(name, text); }).empty(), ok) << name << " = " << text;
  }
  Options options = fresh();
  EXPECT_EQ(complaint([&] { options.set("lr", "-1"); }),
            "schedule \"step\": option lr is -1; it must be greater than 0, at most 10");
}

TEST(Options, OfferChoicesOnly) {
  Options options = fresh();
  EXPECT_THAT(complaint([&] { options.set("order", "reverse"); }),
              AllOf(HasSubstr("\"reversed\""), HasSubstr("natural, reversed, shuffled")));
  OptionSet set;
  set.texts("worlds", {}, "where to run").one_of({"threads", "mpi", "sim"});
  Options lists(set, "bench");
  lists.set("worlds", "threads,sim");
  EXPECT_THAT(complaint([&] { lists.set("worlds", "threads,thread"); }),
              HasSubstr("did you mean \"threads\""));
}

TEST(Options, AnUnknownNameIsAnsweredWithTheNearest) {
  Options options = fresh();
  EXPECT_THAT(complaint([&] { options.set("goups", "1"); }),
              AllOf(HasSubstr("schedule \"step\""), HasSubstr("did you mean \"groups\""),
                    HasSubstr("nesterov, groups, lr, order, at, hosts")));
  EXPECT_THAT(complaint([&] { options.set("zzzzzz", "1"); }), Not(HasSubstr("did you mean")));
  Options none(OptionSet{}, "world \"threads\"");
  EXPECT_THAT(complaint([&] { none.set("x", "1"); }), HasSubstr("has no options"));
}

TEST(Options, TakeTypedValuesOfTheirTypeOnly) {
  Options options = fresh();
  options.set_value("lr", std::int64_t{1});
  EXPECT_EQ(options.real("lr"), 1.0) << "a whole number is a number";
  EXPECT_THAT(complaint([&] { options.set_value("groups", 2.0); }), HasSubstr("integer"));
  EXPECT_THAT(complaint([&] { options.set_value("groups", true); }), HasSubstr("integer"));
  EXPECT_THAT(complaint([&] { options.set_value("lr", std::string("0.1")); }),
              HasSubstr("it must be number"));
  EXPECT_THAT(complaint([&] { options.set_value("groups", std::int64_t{65}); }),
              HasSubstr("at most 64"));
}

TEST(Options, AskingForWhatWasNeverDeclaredIsOurBug) {
  EXPECT_THROW(fresh().integer("gruops"), InternalError);
  OptionSet twice;
  twice.integer("n", 1, "");
  EXPECT_THROW(twice.real("n", 1, ""), InternalError);
}

TEST(Option, TellsItsTypeAndBounds) {
  const OptionSet set = all_types();
  EXPECT_EQ(set.at("groups", "x").bounds(), "at least 0, at most 64");
  EXPECT_EQ(set.at("lr", "x").bounds(), "greater than 0, at most 10");
  EXPECT_EQ(set.at("order", "x").bounds(), "one of natural, reversed, shuffled");
  EXPECT_EQ(set.at("hosts", "x").bounds(), "");
  Texts types;
  for (const auto& option : set.all()) types.push_back(option.type());
  EXPECT_THAT(types, ElementsAre("true or false", "integer", "number", "text", "list of numbers",
                                 "list of texts"));
}

// What `--set` prints, `--set` reads.
TEST(Option, ParseUndoesToText) {
  const std::vector<OptionValue> values = {true,
                                           false,
                                           std::int64_t{-3},
                                           std::numeric_limits<std::int64_t>::max(),
                                           0.1,
                                           1e-300,
                                           -2.0,
                                           std::string("a, b"),
                                           Reals{},
                                           Reals{0.1, 1.0 / 3},
                                           Texts{},
                                           Texts{"a", "b c"}};
  for (const auto& value : values) {
    EXPECT_EQ(Option("x", value, "").parse(to_text(value), "test"), value) << to_text(value);
  }
}

// What config.toml says, a TOML parser reads as the same value of the same type.
TEST(Options, TomlIsReadBackAsTheSameValues) {
  std::string every_byte;
  for (int c = 1; c < 128; ++c) every_byte += static_cast<char>(c);
  for (const std::string& text :
       {std::string(), std::string("plain"), std::string("say \"hi\" \\ bye"),
        std::string("two\nlines\tand\r\x7f"), std::string("größe ← 3"), every_byte}) {
    OptionSet set;
    set.text("text", text, "");
    set.texts("texts", {text, "b"}, "");
    const toml::table table = toml::parse(Options(set, "test").to_toml());
    EXPECT_EQ(table["text"].value<std::string>(), text);
    EXPECT_EQ(table["texts"][0].value<std::string>(), text);
  }
  for (const double value : {0.0, -0.0, 1.0, -3.0, 0.1, 1e20, 1e-300, 123456789.0, 1.0 / 3,
                             std::numeric_limits<double>::infinity()}) {
    OptionSet set;
    set.real("real", value, "");
    set.reals("reals", {value, 2}, "");
    const toml::table table = toml::parse(Options(set, "test").to_toml());
    ASSERT_TRUE(table["real"].is_floating_point()) << value;
    ASSERT_TRUE(table["reals"][1].is_floating_point());
    EXPECT_EQ(table["real"].value<double>(), value);
    EXPECT_EQ(table["reals"][0].value<double>(), value);
  }
  const toml::table table = toml::parse(fresh().to_toml());
  EXPECT_EQ(table["nesterov"].value<bool>(), false);
  EXPECT_TRUE(table["groups"].is_integer());
  EXPECT_TRUE(table["hosts"].is_array());
}

TEST(Options, TomlKeepsTheOrderOfDeclaration) {
  EXPECT_EQ(fresh().to_toml(),
            "nesterov = false\ngroups = 0\nlr = 0.1\norder = \"natural\"\nat = [0.5, 0.75]\n"
            "hosts = []\n");
}

}  // namespace
}  // namespace lockstep
