#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>

#include "batches.h"
#include "lockstep/base/error.h"
#include "lockstep/model/fake_profiles.h"
#include "lockstep/model/replica.h"

namespace lockstep {
namespace {

std::size_t parameters(const std::vector<ProfiledLayer>& layers) {
  return layers.back().layer.offset + layers.back().layer.size;
}

double forward_gflops(const std::vector<ProfiledLayer>& layers) {
  double flops = 0;
  for (const auto& layer : layers) flops += layer.forward_flops;
  return flops / 1e9;
}

std::unique_ptr<Replica> fake(const std::string& profile_name, double seconds = 0) {
  auto& registry = Registry<ModelKind>::instance();
  Options options = registry.options("fake");
  options.set_value("profile", profile_name);
  options.set_value("seconds", seconds);
  ModelSettings settings;
  settings.data = image_shape(3, 8, 10);
  return registry.make("fake", options)->make(settings);
}

TEST(FakeProfiles, HaveAsManyParametersAsTheNetworks) {
  EXPECT_EQ(parameters(profile("alexnet")), 61100840u);
  EXPECT_EQ(parameters(profile("vgg16")), 138357544u);
  EXPECT_EQ(parameters(profile("resnet50")), 25557032u);
  EXPECT_EQ(parameters(profile("resnet152")), 60192808u);
  EXPECT_EQ(parameters(profile("bert-base")), 109482240u);
  EXPECT_EQ(parameters(profile("gpt2")), 124439808u);
  EXPECT_EQ(profile_names().size(), 6u);
}

TEST(FakeProfiles, NeedAsMuchArithmeticAsTheNetworks) {
  EXPECT_NEAR(forward_gflops(profile("alexnet")), 2 * 0.714, 0.02);
  EXPECT_NEAR(forward_gflops(profile("vgg16")), 2 * 15.47, 0.1);
  EXPECT_NEAR(forward_gflops(profile("resnet50")), 2 * 4.09, 0.15);
  EXPECT_NEAR(forward_gflops(profile("resnet152")), 2 * 11.51, 0.35);
  EXPECT_NEAR(forward_gflops(profile("bert-base")), 2 * 85e6 * 128 / 1e9, 1);
  EXPECT_NEAR(forward_gflops(profile("gpt2")), 2 * 124e6 * 1024 / 1e9, 45);  // attention included
}

TEST(FakeProfiles, LayersFillTheVectorWithoutGaps) {
  for (const auto& name : profile_names()) {
    std::size_t end = 0;
    std::set<std::string> names;
    for (const auto& [layer, flops] : profile(name)) {
      EXPECT_EQ(layer.offset, end);
      EXPECT_EQ(layer.size,
                static_cast<std::size_t>(std::accumulate(layer.shape.begin(), layer.shape.end(),
                                                         std::int64_t{1}, std::multiplies<>())));
      EXPECT_TRUE(names.insert(layer.name).second) << layer.name;
      EXPECT_GT(flops, 0);
      end = layer.offset + layer.size;
    }
  }
}

TEST(Fake, AnnouncesEveryLayerOnceFromTheLastToTheFirst) {
  auto replica = fake("resnet50");
  std::vector<std::size_t> order;
  replica->forward_backward(random_batch(image_shape(3, 8, 10), 4, 1), 1.0f,
                            [&](std::size_t layer) { order.push_back(layer); });
  ASSERT_EQ(order.front(), kForwardOver);
  order.erase(order.begin());
  ASSERT_EQ(order.size(), replica->layers().size());
  for (std::size_t i = 0; i < order.size(); ++i) EXPECT_EQ(order[i], order.size() - 1 - i);
}

// Two workers' weighted gradients add up to the gradient of their samples together.
TEST(Fake, GradientIsTheMeanOverTheSamples) {
  const auto shape = image_shape(3, 8, 10);
  const auto left = random_batch(shape, 3, 1), right = random_batch(shape, 5, 2);
  auto both = left;
  both.ids.insert(both.ids.end(), right.ids.begin(), right.ids.end());
  auto replica = fake("resnet50");
  const auto gradient = [&](const Batch& batch, float weight) {
    replica->forward_backward(batch, weight);
    return std::vector<float>(replica->grads().begin(), replica->grads().begin() + 100000);
  };
  const auto of_left = gradient(left, 3.0f / 8), of_right = gradient(right, 5.0f / 8);
  const auto of_both = gradient(both, 1.0f);
  for (std::size_t i = 0; i < of_both.size(); ++i) {
    ASSERT_NEAR(of_left[i] + of_right[i], of_both[i], 1e-6);
  }
  EXPECT_NE(of_both[0], 0.0f);
  for (const float value : gradient({}, 1.0f)) ASSERT_EQ(value, 0.0f);
}

TEST(Fake, SecondsComeFromTheOptionOrFromTheArithmetic) {
  EXPECT_DOUBLE_EQ(fake("resnet50", 0.25)->modelled_seconds(), 0.25);
  const auto replica = fake("resnet50");
  EXPECT_NEAR(replica->modelled_seconds(), 3 * 2 * 4.1 / 50, 0.01);
  const auto backward = replica->backward_seconds();
  ASSERT_EQ(backward.size(), replica->layers().size());
  EXPECT_NEAR(std::accumulate(backward.begin(), backward.end(), 0.0),
              replica->modelled_seconds() * 2 / 3, 1e-9);
}

TEST(Fake, LearnsNothingAndSaysSo) {
  auto replica = fake("resnet50");
  const auto result = replica->evaluate(random_batch(image_shape(3, 8, 10), 20, 1));
  EXPECT_DOUBLE_EQ(result.loss, std::log(10.0));
  EXPECT_EQ(result.labels, 20u);
  EXPECT_FALSE(replica->remarks().empty());
  EXPECT_THROW(replica->save("model.pt"), ConfigError);
}

}  // namespace
}  // namespace lockstep
