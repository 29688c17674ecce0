#include "lockstep/base/svg.h"

#include <gmock/gmock.h>

#include <limits>

namespace lockstep {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(Svg, TicksAreRoundAndWithin) {
  EXPECT_THAT(ticks(0, 10, 5), ElementsAre(0, 2, 4, 6, 8, 10));
  EXPECT_THAT(ticks(83.3, 91.9, 4), ElementsAre(85, 90));
  EXPECT_THAT(ticks(1, 1, 5), IsEmpty());
  EXPECT_THAT(ticks(0, std::numeric_limits<double>::infinity(), 5), IsEmpty());
  EXPECT_THAT(ticks(-0.03, 0.03, 6), SizeIs(7));
}

TEST(Svg, TextsCannotEndTheirElement) {
  EXPECT_EQ(xml_escaped("a<b>&\"\x01\n"), "a&lt;b&gt;&amp;&quot;");
}

}  // namespace
}  // namespace lockstep
