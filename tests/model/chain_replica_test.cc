// Laws of whole networks, seen as the trainer sees them.
#include "lockstep/model/chain_replica.h"

#include <barrier>
#include <set>
#include <thread>

#include "lockstep/base/error.h"
#include "tests/model/chain_under_test.h"

namespace lockstep {
namespace {

Batch merged(const DataShape& data, const std::vector<std::size_t>& parts) {
  std::size_t total = 0;
  for (const std::size_t part : parts) total += part;
  auto batch = noise(data, 0, total);
  batch.parts = parts;
  return batch;
}

TEST(ChainReplica, GradientsAreThoseOfAutograd) {
  for (const auto& network : networks()) {
    SCOPED_TRACE(network.name);
    ModelSettings settings;
    settings.label_smoothing = 0.1;
    expect_autograd(*network.make(settings), noise(network.data, 0, 7), 0.1);
  }
}

TEST(ChainReplica, SavedNetworksGiveTheSameOutputs) {
  for (const auto& network : networks()) {
    SCOPED_TRACE(network.name);
    const auto replica = network.make();
    for (std::size_t step = 0; step < 3; ++step) {  // so that moving averages are not the initial
      replica->forward_backward(noise(network.data, 8 * step, 8), 1);
    }
    const auto batch = noise(network.data, 100, 9);
    Scripted saved(*replica);
    EXPECT_NEAR(replica->evaluate(batch).loss, saved.loss(batch, 0).item<double>(), 1e-5);
    const auto guesses = saved.module.forward({Scripted::input(batch)}).toTensor().argmax(1);
    std::size_t hits = 0;
    for (std::size_t i = 0; i < 9; ++i) hits += guesses[i].item<std::int64_t>() == batch.labels[i];
    EXPECT_EQ(replica->evaluate(batch).correct, hits);
  }
}

TEST(ChainReplica, EqualSettingsGiveEqualBits) {
  for (const auto& network : networks()) {
    const auto one = network.make(), other = network.make();
    EXPECT_EQ(copy(one->params()), copy(other->params()));
    const auto batch = noise(network.data, 0, 5);
    EXPECT_EQ(gradient(*one, batch), gradient(*other, batch));
    ModelSettings settings;
    settings.seed = 2;
    EXPECT_NE(copy(one->params()), copy(network.make(settings)->params()));
  }
}

// One large batch with parts = each worker on its own, averaged.
TEST(ChainReplica, MergedWorkersAreSeparateOnesAveraged) {
  for (const auto& network : networks()) {
    SCOPED_TRACE(network.name);
    const auto together = network.make();
    const auto batch = merged(network.data, {3, 5, 0});
    const auto result = together->forward_backward(batch, 1);
    std::vector<float> sum(together->params().size()), buffers(together->buffers().size());
    double loss = 0;
    std::size_t first = 0;
    for (const std::size_t part : batch.parts) {
      const auto alone = network.make();
      const auto own =
          alone->forward_backward(noise(network.data, first, part), float(part) / 8.0f);
      loss += own.loss * double(part) / 8;
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += alone->grads()[i];
      for (std::size_t i = 0; i < buffers.size(); ++i) buffers[i] += alone->buffers()[i] / 3;
      first += part;
    }
    EXPECT_NEAR(result.loss, loss, 1e-5);
    expect_near(together->grads(), sum, 1e-4, "the gradient");
    expect_near(together->buffers(), buffers, 1e-5, "the moving averages");
  }
}

TEST(ChainReplica, DropoutDoesNotDependOnTheSplit) {
  const Network network{"mlp", image_shape(3, 5, 5), {{"dropout", "0.5"}}};
  const auto replica = network.make();
  auto whole = noise(network.data, 0, 8), left = noise(network.data, 0, 3),
       right = noise(network.data, 3, 5);
  whole.step = left.step = right.step = 4;
  const auto sum_left = gradient(*replica, left, 3.0f / 8),
             sum_right = gradient(*replica, right, 5.0f / 8);
  auto both = sum_left;
  for (std::size_t i = 0; i < both.size(); ++i) both[i] += sum_right[i];
  const auto at_once = gradient(*replica, whole);
  expect_near(at_once, both, 1e-5, "the gradient");
  whole.step = 5;
  EXPECT_NE(gradient(*replica, whole), at_once);
  EXPECT_EQ(replica->evaluate(whole).loss, replica->evaluate(whole).loss);
}

// Workers that share statistics, one of them without samples = one worker with all samples.
TEST(ChainReplica, SharedStatisticsAreThoseOfOneLargeBatch) {
  const Network network{"resnet", image_shape(3, 8, 8), {{"depth", "8"}}};
  const std::vector<std::size_t> parts{3, 5, 0};
  ModelSettings settings;
  settings.batch_norm = "shared";
  std::vector<std::unique_ptr<Replica>> replicas;
  std::vector<std::span<float>> given(parts.size());
  std::vector<float> sum;
  std::barrier meeting(std::ptrdiff_t(parts.size()));
  for (std::size_t w = 0; w < parts.size(); ++w) {
    replicas.push_back(network.make(settings));
    replicas[w]->share_statistics(
        [&, w](std::span<float> values) {
          given[w] = values;
          meeting.arrive_and_wait();
          if (w == 0) {
            sum.assign(values.size(), 0);
            for (const auto other : given) {
              for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += other[i];
            }
          }
          meeting.arrive_and_wait();
          std::copy(sum.begin(), sum.end(), values.begin());
          meeting.arrive_and_wait();
        },
        int(parts.size()));
  }
  std::vector<std::thread> threads;
  std::size_t first = 0;
  for (std::size_t w = 0; w < parts.size(); ++w) {
    threads.emplace_back([&, w, first] {
      replicas[w]->forward_backward(noise(network.data, first, parts[w]), float(parts[w]) / 8);
    });
    first += parts[w];
  }
  for (auto& thread : threads) thread.join();
  std::vector<float> total(replicas[0]->params().size());
  for (const auto& replica : replicas) {
    for (std::size_t i = 0; i < total.size(); ++i) total[i] += replica->grads()[i];
  }
  const auto one = network.make();
  one->forward_backward(noise(network.data, 0, 8), 1);
  expect_near(total, one->grads(), 1e-4, "the gradient");
  for (const auto& replica : replicas) {
    expect_near(replica->buffers(), one->buffers(), 1e-5, "the moving averages");
  }
}

TEST(ChainReplica, ResnetHasThePublishedNumbersOfParameters) {
  const auto data = image_shape(3, 32, 32);
  EXPECT_EQ(make_replica("resnet", settings_for(data))->params().size(), 269722u);
  EXPECT_EQ(make_replica("resnet", settings_for(data), {{"depth", "56"}})->params().size(),
            853018u);
  EXPECT_EQ(make_replica("lenet", settings_for(image_shape(1, 28, 28)))->params().size(), 61706u);
  EXPECT_EQ(make_replica("logistic", settings_for(image_shape(1, 28, 28)))->params().size(), 7850u);
}

TEST(ChainReplica, EachLayerIsAnnouncedOnceWithItsFinalGradient) {
  for (const auto& network : networks()) {
    const auto replica = network.make();
    for (const std::size_t samples : {std::size_t(4), std::size_t(0)}) {
      std::set<std::size_t> announced;
      std::vector<float> at_announcement(replica->grads().size());
      replica->forward_backward(noise(network.data, 0, samples), 1, [&](std::size_t index) {
        if (index == kForwardOver) {
          EXPECT_TRUE(announced.empty());
          return;
        }
        EXPECT_TRUE(announced.insert(index).second);
        const auto& layer = replica->layers()[index];
        std::copy_n(replica->grads().begin() + std::ptrdiff_t(layer.offset), layer.size,
                    at_announcement.begin() + std::ptrdiff_t(layer.offset));
      });
      EXPECT_EQ(announced.size(), replica->layers().size());
      EXPECT_EQ(at_announcement, copy(replica->grads()));
    }
  }
}

TEST(ChainReplica, AnEmptyBatchGivesZeros) {
  for (const auto& network : networks()) {
    const auto replica = network.make();
    gradient(*replica, noise(network.data, 0, 4));
    const auto buffers = copy(replica->buffers());
    const auto result = replica->forward_backward(noise(network.data, 0, 0), 1);
    EXPECT_EQ(result.labels, 0u);
    EXPECT_EQ(copy(replica->grads()), std::vector<float>(replica->grads().size()));
    EXPECT_EQ(copy(replica->buffers()), buffers);
    EXPECT_EQ(replica->evaluate(noise(network.data, 0, 0)).labels, 0u);
  }
}

TEST(ChainReplica, PlainGradientDescentLearns) {
  for (const auto& network : networks()) {
    const auto replica = network.make();
    const auto batch = noise(network.data, 0, 8);
    const double before = replica->evaluate(batch).loss;
    for (int step = 0; step < 20; ++step) {
      const auto slope = gradient(*replica, batch);
      for (std::size_t i = 0; i < slope.size(); ++i) replica->params()[i] -= 0.05f * slope[i];
      replica->apply_update();
    }
    EXPECT_LT(replica->forward_backward(batch, 1).loss, 0.7 * before) << network.name;
  }
}

TEST(ChainReplica, SmoothedLabelsAreForTrainingOnly) {
  const auto data = image_shape(3, 5, 5);
  auto settings = settings_for(data);
  const auto batch = noise(data, 0, 8);
  const auto plain = make_replica("mlp", settings);
  settings.label_smoothing = 0.2;
  const auto smoothed = make_replica("mlp", settings);
  EXPECT_EQ(smoothed->evaluate(batch).loss, plain->evaluate(batch).loss);
  EXPECT_NE(smoothed->forward_backward(batch, 1).loss, plain->forward_backward(batch, 1).loss);
}

TEST(ChainReplica, ModelledSecondsComeFromTheOperations) {
  const auto data = image_shape(1, 28, 28);
  EXPECT_DOUBLE_EQ(make_replica("logistic", settings_for(data))->modelled_seconds(),
                   3 * 2 * 784 * 10 / 50e9);
  const auto resnet = make_replica("resnet", settings_for(image_shape(3, 32, 32)));
  EXPECT_NEAR(resnet->modelled_seconds(), 3 * 81.1e6 / 50e9, 0.05 * 3 * 81.1e6 / 50e9);
}

TEST(ChainReplica, WhatDoesNotFitIsRefused) {
  const DataShape vectors{DataShape::Kind::kVector, {20}, 10, 0};
  const DataShape text{DataShape::Kind::kTokens, {20}, 10, 10};
  EXPECT_THROW(make_replica("resnet", settings_for(vectors)), ConfigError);
  EXPECT_THROW(make_replica("lenet", settings_for(vectors)), ConfigError);
  EXPECT_THROW(make_replica("lenet", settings_for(image_shape(1, 9, 20))), ConfigError);
  EXPECT_THROW(make_replica("mlp", settings_for(text)), ConfigError);
  EXPECT_THROW(make_replica("mlp", settings_for(vectors), {{"widths", "[2.5]"}}), ConfigError);
  const auto images = settings_for(image_shape(3, 8, 8));
  EXPECT_THROW(make_replica("resnet", images, {{"depth", "21"}}), ConfigError);
  EXPECT_THROW(make_replica("resnet", images, {{"norm", "group"}, {"groups", "3"}}), ConfigError);
}

}  // namespace
}  // namespace lockstep
