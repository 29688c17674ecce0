#include "lockstep/base/state_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/base/error.h"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

struct Part {
  std::vector<float> velocity{1.5f, -2.0f, 3.25f};
  std::int64_t steps = 7;
  double rate = 0.1;
  std::vector<std::byte> blob{std::byte{9}, std::byte{8}};

  void state(StateVisitor& visitor) {
    visitor.floats("velocity", velocity);
    visitor.integer("steps", steps);
    visitor.real("rate", rate);
    visitor.bytes("blob", blob);
  }
  ShowState show() {
    return [this](StateVisitor& visitor) { state(visitor); };
  }
  bool operator==(const Part&) const = default;
};

TEST(StateStore, PutsBackWhatItCopied) {
  Part part;
  const StateStore store(part.show());
  Part changed{{0, 0, 0}, 0, 0, {}};
  store.restore(changed.show());
  EXPECT_EQ(changed, part);
  part.velocity[0] = 99;
  store.restore(part.show());
  EXPECT_EQ(changed, part) << "the store holds copies";
}

TEST(StateStore, KeepsEveryBit) {
  Part part{{std::numeric_limits<float>::quiet_NaN(), -0.0f, 1e-45f},
            std::numeric_limits<std::int64_t>::min(),
            -std::numeric_limits<double>::infinity(),
            {}};
  const StateStore store(part.show());
  Part other;
  store.restore(other.show());
  EXPECT_EQ(std::memcmp(other.velocity.data(), part.velocity.data(), 3 * sizeof(float)), 0);
  EXPECT_EQ(other.steps, part.steps);
  EXPECT_EQ(other.rate, part.rate);
  EXPECT_TRUE(other.blob.empty());
}

TEST(StateStore, ScopesKeepPartsApart) {
  Part a, b{{4, 5, 6}, 1, 2, {}};
  const ShowState both = [&](StateVisitor& visitor) {
    StateScope first(visitor, "a"), second(visitor, "b");
    a.state(first);
    b.state(second);
  };
  const StateStore store(both);
  EXPECT_EQ(store.values().at(4).name, "b.velocity");
  const Part old_a = a, old_b = b;
  a = old_b;
  b = old_a;
  store.restore(both);
  EXPECT_EQ(a, old_a);
  EXPECT_EQ(b, old_b);
}

TEST(StateStore, TwoValuesOfOneNameAreABug) {
  Part part;
  EXPECT_THROW(StateStore([&](StateVisitor& visitor) {
                 part.state(visitor);
                 visitor.integer("steps", part.steps);
               }),
               InternalError);
}

TEST(RestoreState, NamesWhatIsMissingOrHasAnotherLength) {
  Part part;
  const StateStore store(part.show());
  const auto restoring = [&](const ShowState& show) {
    return [&store, show] { restore_state(store.values(), "x.ckpt", show); };
  };
  std::int64_t number = 0;
  double real = 0;
  std::vector<float> longer(4);
  EXPECT_THAT(restoring([&](StateVisitor& v) { v.integer("epochs", number); }),
              ThrowsMessage<DataError>(AllOf(HasSubstr("x.ckpt"), HasSubstr("\"epochs\""))));
  EXPECT_THAT(restoring([&](StateVisitor& v) { v.floats("velocity", longer); }),
              ThrowsMessage<DataError>(
                  AllOf(HasSubstr("\"velocity\" has 3 values, expected 4"), HasSubstr("x.ckpt"))));
  EXPECT_THAT(restoring([&](StateVisitor& v) { v.real("steps", real); }),
              ThrowsMessage<DataError>(HasSubstr("\"steps\" is of kind integer, expected real")));
}

TEST(RestoreState, TellsWhatNobodyAskedFor) {
  Part part;
  const StateStore store(part.show());
  std::int64_t number = 0;
  EXPECT_THAT(
      restore_state(store.values(), "x", [&](StateVisitor& v) { v.integer("steps", number); }),
      ElementsAre("velocity", "rate", "blob"));
  EXPECT_EQ(number, 7);
}

}  // namespace
}  // namespace lockstep
