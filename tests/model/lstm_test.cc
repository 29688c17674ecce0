#include <gtest/gtest.h>
#include <torch/script.h>

#include "batches.h"
#include "lockstep/base/error.h"
#include "lockstep/model/batch_tensors.h"
#include "lockstep/model/replica.h"
#include "temporary_folder.h"

namespace lockstep {
namespace {

std::unique_ptr<Replica> lstm(const DataShape& shape, int layers = 1, std::uint64_t seed = 1) {
  auto& registry = Registry<ModelKind>::instance();
  Options options = registry.options("lstm");
  options.set_value("hidden", std::int64_t{12});
  options.set_value("layers", std::int64_t{layers});
  options.set_value("embedding", std::int64_t{6});
  ModelSettings settings;
  settings.data = shape;
  settings.seed = seed;
  return registry.make("lstm", options)->make(settings);
}

const std::vector<DataShape> kShapes{image_shape(3, 7, 5), vector_shape({9, 4}, 5),
                                     text_shape(11, 8)};

TEST(Lstm, HasTheParametersOfTorchsModules) {
  const auto cell = [](std::size_t in) { return 4u * 12 * (in + 12) + 2 * 4 * 12; };
  EXPECT_EQ(lstm(kShapes[0])->params().size(), cell(21) + 13 * 5);
  EXPECT_EQ(lstm(kShapes[1], 2)->params().size(), cell(4) + cell(12) + 13 * 5);
  EXPECT_EQ(lstm(kShapes[2])->params().size(), 8 * 6 + cell(6) + 13 * 8);
}

TEST(Lstm, EqualSeedsGiveEqualBitsAndOthersDoNot) {
  auto first = lstm(kShapes[0]), second = lstm(kShapes[0]), other = lstm(kShapes[0], 1, 2);
  EXPECT_TRUE(std::ranges::equal(first->params(), second->params()));
  EXPECT_FALSE(std::ranges::equal(first->params(), other->params()));
}

// The gradient of torch::nn::LSTM with the same weights, for vectors.
TEST(Lstm, IsTorchsLstm) {
  auto replica = lstm(kShapes[1], 2);
  torch::nn::LSTM reference(torch::nn::LSTMOptions(4, 12).num_layers(2).batch_first(true));
  torch::nn::Linear head(12, 5);
  {
    const torch::NoGradGuard no_grad;
    for (const auto& layer : replica->layers()) {
      const auto values = torch::from_blob(replica->params().data() + layer.offset, layer.shape);
      const auto name = layer.name.substr(5);
      auto target = layer.name.starts_with("lstm") ? reference->named_parameters()[name]
                                                   : head->named_parameters()[name];
      target.copy_(values);
    }
  }
  const auto batch = random_batch(kShapes[1], 6, 1);
  const auto result = replica->forward_backward(batch, 1.0f);
  const auto states = std::get<0>(reference(input_view(batch)));
  const auto loss =
      torch::nn::functional::cross_entropy(head(states.select(1, -1)), label_view(batch));
  loss.backward();
  EXPECT_NEAR(result.loss, loss.item<double>(), 1e-6);
  const auto found = torch::from_blob(replica->grads().data(), {48, 4});
  EXPECT_TRUE(
      torch::allclose(found, reference->named_parameters()["weight_ih_l0"].grad(), 1e-4, 1e-6));
}

TEST(Lstm, LearnsABatch) {
  for (const auto& shape : kShapes) {
    auto replica = lstm(shape);
    const auto batch = random_batch(shape, 4, 1);
    const auto before = replica->evaluate(batch);
    EXPECT_EQ(before.labels, 4 * shape.labels_per_sample());
    for (int step = 0; step < 60; ++step) {
      replica->forward_backward(batch, 1.0f);
      for (std::size_t i = 0; i < replica->params().size(); ++i) {
        replica->params()[i] -= 0.5f * replica->grads()[i];
      }
    }
    EXPECT_LT(replica->evaluate(batch).loss, before.loss * 0.95);
  }
}

TEST(Lstm, SavedScriptsGiveTheSameScores) {
  const TemporaryFolder folder;
  for (const auto& shape : kShapes) {
    auto replica = lstm(shape, 2);
    replica->save(folder.file("lstm.pt"));
    auto script = torch::jit::load(folder.file("lstm.pt"));
    const auto batch = random_batch(shape, 4, 1);
    auto scores = script.forward({input_view(batch)}).toTensor().reshape({-1, shape.classes});
    const auto loss = torch::nn::functional::cross_entropy(scores, label_view(batch));
    EXPECT_NEAR(loss.item<double>(), replica->evaluate(batch).loss, 1e-6);
  }
}

TEST(Lstm, RefusesDataWithoutASequence) {
  EXPECT_THROW(lstm(vector_shape({9}, 5)), ConfigError);
}

}  // namespace
}  // namespace lockstep
