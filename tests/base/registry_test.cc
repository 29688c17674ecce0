#include "lockstep/base/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

struct Animal {
  virtual ~Animal() = default;
  virtual std::string says() const = 0;
};

struct Loud : Animal {
  Loud(std::string sound, std::int64_t times) : sound_(std::move(sound)), times_(times) {}
  std::string says() const override {
    std::string all;
    for (std::int64_t i = 0; i < times_; ++i) all += sound_;
    return all;
  }

 private:
  std::string sound_;
  std::int64_t times_;
};

}  // namespace

template <>
Registry<Animal>& Registry<Animal>::instance() {
  static Registry registry("animal", "kind of animal");
  return registry;
}

namespace {

OptionSet times_option() {
  OptionSet set;
  set.integer("times", 1, "how often").at_least(1);
  return set;
}

// As files of algorithms do: at namespace scope, in no particular order.
const Registration<Animal> kSheep{
    "sheep", "Follows.", {}, [](const Options&) { return std::make_unique<Loud>("baa", 1); }};
const Registration<Animal> kCow{"cow", "Gives milk.", times_option(), [](const Options& options) {
                                  return std::make_unique<Loud>("moo", options.integer("times"));
                                }};

const Registry<Animal>& animals() {
  return Registry<Animal>::instance();
}

TEST(Registry, MakesWhatWasRegistered) {
  EXPECT_EQ(animals().make("sheep")->says(), "baa");
  EXPECT_EQ(animals().make("cow")->says(), "moo");
  EXPECT_NE(animals().make("cow"), animals().make("cow")) << "each call makes a new one";
}

TEST(Registry, HandsOptionsToTheFactory) {
  Options options = animals().options("cow");
  EXPECT_EQ(options.integer("times"), 1);
  options.set("times", "3");
  EXPECT_EQ(animals().make("cow", options)->says(), "moomoomoo");
}

TEST(Registry, NamesTheComponentInErrorsOfItsOptions) {
  Options options = animals().options("cow");
  EXPECT_THAT([&] { options.set("times", "0"); },
              testing::ThrowsMessage<ConfigError>(
                  AllOf(HasSubstr("kind of animal \"cow\""), HasSubstr("at least 1"))));
}

TEST(Registry, AnswersAnUnknownNameWithTheNearestAndAllOthers) {
  const auto says = testing::ThrowsMessage<ConfigError>(
      AllOf(HasSubstr("unknown kind of animal \"ship\""), HasSubstr("did you mean \"sheep\""),
            HasSubstr("Valid: cow, sheep")));
  EXPECT_THAT([] { animals().make("ship"); }, says);
  EXPECT_THAT([] { animals().at("ship"); }, says);
  EXPECT_THAT([] { animals().options("ship"); }, says);
}

TEST(Registry, ListsByNameWhateverTheOrderOfRegistration) {
  EXPECT_THAT(animals().names(), ElementsAre("cow", "sheep"));
  const auto items = animals().items();
  ASSERT_EQ(items.size(), 2u);
  EXPECT_EQ(items[0].name, "cow");
  EXPECT_EQ(items[0].sentence, "Gives milk.");
  EXPECT_EQ(items[0].options.all().size(), 1u);
  EXPECT_EQ(items[1].name, "sheep");
}

TEST(Registry, RefusesANameTwice) {
  Registry<Animal> zoo("zoo", "guest of the zoo");
  zoo.add({"lion", "Sleeps.", {}}, [](const Options&) { return nullptr; });
  EXPECT_THROW(zoo.add({"lion", "Roars.", {}}, [](const Options&) { return nullptr; }),
               InternalError);
  EXPECT_THAT(zoo.names(), ElementsAre("lion"));
}

TEST(Catalogue, KnowsEveryRegistryThatLivesSortedByKind) {
  const auto kinds = [] {
    std::vector<std::string> all;
    for (const Catalogue* catalogue : Catalogue::all()) all.push_back(catalogue->kind());
    return all;
  };
  animals();
  const auto before = kinds();
  EXPECT_THAT(before, testing::Contains("animal"));
  {
    const Registry<Animal> last("zoo", "guest"), first("aardvarks", "guest");
    const auto during = kinds();
    EXPECT_TRUE(std::is_sorted(during.begin(), during.end()));
    EXPECT_EQ(during.size(), before.size() + 2);
  }
  EXPECT_EQ(kinds(), before);
}

}  // namespace
}  // namespace lockstep
