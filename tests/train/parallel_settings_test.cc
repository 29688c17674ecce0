// What [parallel] refuses, and in which words.
#include <gmock/gmock.h>

#include "lockstep/base/error.h"
#include "tests/linear_model.h"
#include "tests/train/parallel_runs.h"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(ParallelSettings, WrongOnesAreRefusedInWords) {
  const auto refused = [](const Settings& settings, const auto& matcher) {
    EXPECT_THAT(
        [&] {
          make_job(with({"cluster.workers=4", "parallel.stages=2"}, settings));
        },
        ThrowsMessage<ConfigError>(matcher))
        << testing::PrintToString(settings);
  };
  refused({"sync.name=asynchronous"}, HasSubstr("stay in step"));
  refused({"sync.name=gossip"}, HasSubstr("stay in step"));
  refused({"sync.name=codistillation"}, HasSubstr("no predictions"));
  refused({"train.precision=fp16"}, HasSubstr("bf16"));
  refused({"cluster.jitter=0.5"}, HasSubstr("cluster file"));
  refused({"aggregate.via=server", "aggregate.servers=1"}, HasSubstr("beside the workers"));
  refused({"parallel.stages=3"}, AllOf(HasSubstr("do not divide"), HasSubstr("1, 2, 4")));
  refused({"parallel.replicas=3"}, AllOf(HasSubstr("are 6 ranks"), HasSubstr("workers = 4")));
  refused({"cluster.workers=6", "parallel.stages=6"},
          AllOf(HasSubstr("at most 5 stages"), HasSubstr("layer0, layer1")));
  refused({"parallel.cuts=layer9"}, HasSubstr("unknown unit \"layer9\""));
  refused({"parallel.cuts=layer1,layer2"}, HasSubstr("makes 3 stages"));
  refused({"parallel.stages=1", "parallel.cuts=layer1"}, HasSubstr("stages = 1"));
  refused({"parallel.stages=1", "parallel.memory=300", "train.local_batch=1"},
          HasSubstr("smallest number of stages that does is 3"));
  refused({"parallel.schedule=2f2b"}, HasSubstr("1f1b"));
  refused({"cluster.workers=4", "parallel.stages=4", "parallel.cuts=layer2,layer1,layer3"},
          HasSubstr("does not come behind"));
}

TEST(ParallelSettings, ModelsThatCannotBeCutAreRefused) {
  Config config;
  config.set({"model.name=fake", "cluster.workers=2", "parallel.stages=2"});
  EXPECT_THAT(
      [&] {
        Job(config, {dataset(), std::make_shared<LinearModel>()}, 0);
      },
      ThrowsMessage<ConfigError>(HasSubstr("cannot be cut into stages")));
}

// A stage of one layer takes 9 parameters, their gradients and velocity (108 bytes), the
// activations of a sample (12), and messages and their gradients (24 on each side).
TEST(ParallelSettings, AModelTooLargeIsToldTheFewestStagesThatFit) {
  const Settings tight{"cluster.workers=2", "parallel.stages=2", "train.local_batch=1"};
  EXPECT_NO_THROW(make_job(with(tight, {"parallel.memory=1K"})));
  EXPECT_THAT(
      [&] { make_job(with(tight, {"parallel.memory=320"})); },
      ThrowsMessage<ConfigError>(HasSubstr("the smallest number of stages that does is 3")));
  EXPECT_THAT([&] { make_job(with(tight, {"parallel.memory=100"})); },
              ThrowsMessage<ConfigError>(HasSubstr("however it is cut")));
  EXPECT_THAT(
      [&] {
        make_job(with(tight, {"parallel.memory=460", "parallel.cuts=layer1"}));
      },
      ThrowsMessage<ConfigError>(HasSubstr("with these [parallel] cuts")));
}

}  // namespace
}  // namespace lockstep
