// What teachers say in the loss: networks with backward of our own and those that torch
// differentiates do the same with it.
#include <map>

#include "temporary_folder.h"
#include "tests/model/chain_under_test.h"

namespace lockstep {
namespace {

Batch taught(const DataShape& data) {
  Batch batch = noise(data, 0, 7);
  Random random(3, "teacher");
  const auto classes = static_cast<std::size_t>(data.classes);
  for (std::size_t row = 0; row < 7; ++row) {
    std::vector<float> shares(classes);
    float sum = 0;
    for (float& share : shares) sum += share = static_cast<float>(1 + random.below(9));
    for (const float share : shares) batch.soft.probabilities.push_back(share / sum);
  }
  batch.soft.weight = 0.6f;
  return batch;
}

// A chain, and the same network as a module.
struct Both {
  std::unique_ptr<Replica> chain, module;
};

Both both(const Network& network, double label_smoothing = 0) {
  const TemporaryFolder folder;
  ModelSettings settings = settings_for(network.data);
  settings.label_smoothing = label_smoothing;
  Both result{network.make(settings), nullptr};
  result.chain->save(folder.file("net.pt"));
  result.module = make_replica("torchscript", settings, {{"file", folder.file("net.pt")}});
  return result;
}

TEST(SoftTargets, ChainsAndModulesLearnTheSame) {
  for (const auto& network : networks()) {
    SCOPED_TRACE(network.name);
    const Both nets = both(network, 0.1);
    const Batch batch = taught(network.data);
    const double untaught =
        both(network, 0.1).chain->forward_backward(noise(network.data, 0, 7), 1).loss;
    const double chain = nets.chain->forward_backward(batch, 0.5f).loss;
    EXPECT_NEAR(chain, nets.module->forward_backward(batch, 0.5f).loss, 1e-5);
    EXPECT_GT(chain, untaught + 0.1) << "soft targets do not count";
    std::map<std::string, std::span<float>> by_name;
    for (const Layer& layer : nets.module->layers()) {
      by_name[layer.name] = nets.module->grads().subspan(layer.offset, layer.size);
    }
    for (const Layer& layer : nets.chain->layers()) {
      expect_near(nets.chain->grads().subspan(layer.offset, layer.size), by_name.at(layer.name),
                  1e-4, layer.name);
    }
  }
}

TEST(SoftTargets, TheGradientIsTheSlopeOfTheLoss) {
  for (const auto& network : networks()) {
    SCOPED_TRACE(network.name);
    const Both nets = both(network);
    const Batch batch = taught(network.data);
    for (Replica* replica : {nets.chain.get(), nets.module.get()}) {
      Random random(4, "away");  // from where activations are exactly 0, the kink of a ReLU
      for (float& value : replica->params()) value += static_cast<float>(0.05 * random.normal());
      replica->apply_update();
      const auto direction = gradient(*replica, batch);
      double square = 0;
      for (const float value : direction) square += double(value) * value;
      const auto loss_at = [&](double distance) {
        const auto start = copy(replica->params());
        for (std::size_t i = 0; i < start.size(); ++i) {
          replica->params()[i] += static_cast<float>(distance * direction[i]);
        }
        replica->apply_update();
        const double loss = replica->forward_backward(batch, 1).loss;
        std::copy(start.begin(), start.end(), replica->params().begin());
        replica->apply_update();
        return loss;
      };
      const double distance = 5e-4 / square;  // the loss changes by 5e-4, to first order
      EXPECT_NEAR(loss_at(distance) - loss_at(-distance), 1e-3, 5e-5);
    }
  }
}

TEST(SoftTargets, WhoeverPredictsThemIsNotMoved) {
  for (const auto& network : networks()) {
    SCOPED_TRACE(network.name);
    if (!network.make()->buffers().empty()) continue;  // batch norm trains on other statistics
    const Both nets = both(network);
    for (Replica* replica : {nets.chain.get(), nets.module.get()}) {
      Batch batch = noise(network.data, 0, 7);
      const auto alone = gradient(*replica, batch);
      std::vector<float> scores(7 * static_cast<std::size_t>(network.data.classes));
      replica->predict(batch, scores);
      const auto own = torch::from_blob(scores.data(), {7, network.data.classes}).softmax(1);
      batch.soft.probabilities.assign(own.data_ptr<float>(), own.data_ptr<float>() + own.numel());
      batch.soft.weight = 2;
      expect_near(gradient(*replica, batch), alone, 1e-5, "gradient");
    }
  }
}

TEST(SoftTargets, PredictingGivesTheScoresThatAreEvaluatedAndChangesNothing) {
  for (const auto& network : networks()) {
    SCOPED_TRACE(network.name);
    const Both nets = both(network);
    for (Replica* replica : {nets.chain.get(), nets.module.get()}) {
      const Batch batch = noise(network.data, 20, 9);
      const auto params = copy(replica->params()), buffers = copy(replica->buffers());
      std::vector<float> scores(9 * static_cast<std::size_t>(network.data.classes));
      replica->predict(batch, scores);
      const auto labels =
          torch::tensor(std::vector<std::int64_t>(batch.labels.begin(), batch.labels.end()));
      const auto loss = torch::nn::functional::cross_entropy(
          torch::from_blob(scores.data(), {9, network.data.classes}), labels);
      EXPECT_NEAR(replica->evaluate(batch).loss, loss.item<double>(), 1e-5);
      EXPECT_EQ(copy(replica->params()), params);
      EXPECT_EQ(copy(replica->buffers()), buffers);
    }
  }
}

}  // namespace
}  // namespace lockstep
