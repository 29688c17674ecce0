// Every layer's gradients against torch's autograd of the plain composition.
#include "lockstep/model/layers.h"

#include "lockstep/model/chain_replica.h"
#include "tests/model/chain_under_test.h"

namespace lockstep {
namespace {

void expect_autograd_of(const DataShape& data, const BuildChain& build) {
  ChainReplica replica(settings_for(data), "test", build);
  expect_autograd(replica, noise(data, 0, 6));
}

NormShape norm_of(NormShape::Kind kind, bool relu, std::int64_t groups = 1) {
  NormShape shape;
  shape.kind = kind;
  shape.relu = relu;
  shape.groups = groups;
  return shape;
}

TEST(Layers, LinearOnVectors) {
  const DataShape data{DataShape::Kind::kVector, {5, 3}, 7, 0};
  expect_autograd_of(data, [](ChainBuilder& chain) {
    return chain.flatten().linear("a", 11, true).linear("b", 4, false).classifier("c");
  });
}

TEST(Layers, ConvolutionsOfAllSizes) {
  for (const int kernel : {1, 3, 5}) {
    for (const std::int64_t channels : {5, 16}) {
      expect_autograd_of(image_shape(3, 9, 7), [&](ChainBuilder& chain) {
        chain.convolution("a", channels, kernel, kernel / 2);
        chain.convolution("b", channels, kernel, 0);
        return chain.flatten().classifier("c");
      });
    }
  }
}

TEST(Layers, OneChannelAndOnePixel) {
  expect_autograd_of(image_shape(1, 3, 3), [&](ChainBuilder& chain) {
    chain.convolution("a", 1, 3, 1).norm("n", norm_of(NormShape::Kind::kBatch, true));
    chain.convolution("b", 8, 3, 0).norm("m", norm_of(NormShape::Kind::kBatch, true));
    return chain.flatten().classifier("c");
  });
}

TEST(Layers, Pooling) {
  expect_autograd_of(image_shape(3, 11, 8), [](ChainBuilder& chain) {
    chain.convolution("a", 6, 3, 1).max_pool(2).convolution("b", 4, 1, 0).average_pool(2);
    return chain.flatten().classifier("c");
  });
  expect_autograd_of(image_shape(2, 5, 4), [](ChainBuilder& chain) {
    return chain.convolution("a", 6, 3, 1).global_pool().classifier("c");
  });
}

TEST(Layers, NormsOfEveryKindWithAndWithoutRelu) {
  using Kind = NormShape::Kind;
  for (const bool relu : {true, false}) {
    for (const std::int64_t channels : {12, 16}) {
      for (const auto& norm : {norm_of(Kind::kBatch, relu), norm_of(Kind::kGroup, relu, 4),
                               norm_of(Kind::kGroup, relu, 1), norm_of(Kind::kNone, relu)}) {
        expect_autograd_of(image_shape(3, 17, 18), [&](ChainBuilder& chain) {
          chain.convolution("a", channels, 3, 1).norm("n", norm);
          chain.convolution("b", channels, 3, 1).norm("m", norm);
          return chain.global_pool().classifier("c");
        });
      }
    }
  }
}

TEST(Layers, ResidualBlocksThatKeepAndThatHalveTheImage) {
  for (const auto kind : {NormShape::Kind::kBatch, NormShape::Kind::kGroup}) {
    expect_autograd_of(image_shape(3, 9, 6), [&](ChainBuilder& chain) {
      const auto norm = norm_of(kind, true, 2);
      chain.convolution("a", 4, 3, 1).norm("n", norm);
      chain.residual_block("keep", 4, 1, norm).residual_block("halve", 10, 2, norm);
      return chain.global_pool().classifier("c");
    });
  }
}

TEST(Layers, BatchNormWithoutMovingAveragesEvaluatesByTheBatch) {
  auto settings = settings_for(image_shape(3, 8, 8));
  settings.batch_norm = "batch-only";
  const auto replica = make_replica("resnet", settings, {{"depth", "8"}});
  EXPECT_TRUE(replica->buffers().empty());
  const auto batch = noise(settings.data, 0, 6);
  expect_autograd(*replica, batch);
  EXPECT_NEAR(replica->evaluate(batch).loss, replica->forward_backward(batch, 1).loss, 1e-5);
}

}  // namespace
}  // namespace lockstep
