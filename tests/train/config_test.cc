#include "lockstep/train/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "lockstep/base/error.h"
#include "lockstep/optim/optimizer.h"
#include "lockstep/train/presets.h"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

std::string error_in(const std::string& toml) {
  return error_of([&] { Config().read_text(toml, "run.toml"); });
}

TEST(Config, WhatIsWrittenReadsTheSameAgain) {
  Config config;
  config.read_text("[model]\nname = \"fake:vgg16\"\n[optim]\nlr = 0.25\n[train]\nseed = 7\n", "a");
  Config again;
  again.read_text(config.to_toml(), "b");
  EXPECT_EQ(again.to_toml(), config.to_toml());
  EXPECT_EQ(again.at("model").options().text("profile"), "vgg16");
  EXPECT_EQ(again.at("optim").options().real("lr"), 0.25);
  EXPECT_EQ(again.at("train").own().integer("seed"), 7);
}

TEST(Config, LaterLayersOverrideEarlierOnes) {
  Config config;
  config.read_text("[optim]\nname = \"sgd\"\nlr = 0.5\nmomentum = 0.9\n", "file");
  config.set({"optim.lr=0.125", "train.epochs=3"});
  EXPECT_EQ(config.at("optim").options().real("lr"), 0.125);
  EXPECT_EQ(config.at("optim").options().real("momentum"), 0.9);
  EXPECT_EQ(config.at("train").own().real("epochs"), 3);
}

TEST(Config, AnotherComponentStartsFromItsDefaults) {
  Config config;
  config.read_text("[optim]\nname = \"sgd\"\nlr = 0.5\nmomentum = 0.9\n", "file");
  const double usual = Registry<Optimizer>::instance().options("adam").real("lr");
  config.set({"optim.name=adam"});
  EXPECT_EQ(config.at("optim").component(), "adam");
  EXPECT_EQ(config.at("optim").options().real("lr"), usual);
}

TEST(Config, TheOrderOfSettingsDoesNotMatter) {
  Config config;
  config.set({"schedule.power=3", "schedule.name=polynomial"});
  EXPECT_EQ(config.at("schedule").options().real("power"), 3);
}

TEST(Config, NamingTheChosenComponentKeepsItsOptions) {
  Config config;
  config.read_text("[optim]\nname = \"sgd\"\nlr = 0.5\n", "file");
  config.set({"optim.name=sgd"});
  EXPECT_EQ(config.at("optim").options().real("lr"), 0.5);
}

TEST(Config, ErrorsSayWhereAndWhatIsAllowed) {
  EXPECT_THAT(error_in("[optim]\nname = \"sgd\"\nlr = \"high\"\n"),
              AllOf(HasSubstr("run.toml:3"), HasSubstr("lr"), HasSubstr("number")));
  EXPECT_THAT(error_in("[optim]\nname = \"sdg\"\n"),
              AllOf(HasSubstr("run.toml:2"), HasSubstr("did you mean \"sgd\"")));
  EXPECT_THAT(error_in("\n[train]\nepoch = 3\n"),
              AllOf(HasSubstr("run.toml:3"), HasSubstr("did you mean \"epochs\"")));
  EXPECT_THAT(error_in("[trian]\nepochs = 3\n"),
              AllOf(HasSubstr("run.toml:1"), HasSubstr("did you mean \"train\"")));
  EXPECT_THAT(error_in("[train]\nepochs = -3\n"),
              AllOf(HasSubstr("run.toml:2"), HasSubstr("greater than 0")));
  EXPECT_THAT(error_in("[train\n"), HasSubstr("run.toml:1"));
  EXPECT_THAT(error_in("train = 3\n"), HasSubstr("write [train]"));
  EXPECT_THAT(error_in("[schedule]\nname = \"step\"\nat = [0.5, \"x\"]\n"), HasSubstr("mixed"));
  EXPECT_THAT(error_in("[optim]\nname = 3\n"), HasSubstr("must be a text"));
  EXPECT_THAT(error_in("[sync]\nname = \"synchronous\"\nperiod = 8\n"), HasSubstr("run.toml:3"));
}

TEST(Config, SettingsSayWhatIsWrongWithThem) {
  const auto error = [](const std::string& setting) {
    return error_of([&] { Config().set({setting}); });
  };
  EXPECT_THAT(error("epochs=3"), HasSubstr("section.key=value"));
  EXPECT_THAT(error("train.epochs"), HasSubstr("section.key=value"));
  EXPECT_THAT(error("train.epocs=3"), HasSubstr("did you mean \"epochs\""));
  EXPECT_THAT(error("train.epochs=many"), HasSubstr("--set train.epochs=many"));
}

TEST(Config, AMissingModelIsNamedWhenItIsNeeded) {
  const Config config;
  EXPECT_THAT(error_of([&] { config.at("model").component(); }),
              AllOf(HasSubstr("[model] name is missing"), HasSubstr("fake")));
}

TEST(Config, AFileThatIsNotThereIsNamed) {
  EXPECT_THAT(error_of([] { Config().read_file("no-such.toml"); }), HasSubstr("no-such.toml"));
}

TEST(Presets, AreFoundByNameAndDescribeThemselves) {
  EXPECT_EQ(preset("default").name, "default");
  EXPECT_THAT(error_of([] { preset("defualt"); }), HasSubstr("did you mean \"default\""));
  for (const auto& each : presets()) EXPECT_GT(each.sentence().size(), 20u) << each.name;
}

}  // namespace
}  // namespace lockstep
