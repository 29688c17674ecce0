#include "lockstep/model/module_replica.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "batches.h"
#include "lockstep/base/error.h"
#include "lockstep/model/batch_tensors.h"
#include "lockstep/model/user_module.h"

namespace lockstep {
namespace {

// Convolution, batch norm, an unused layer and a frozen one.
struct Net : torch::nn::Module {
  torch::nn::Conv2d conv{nullptr};
  torch::nn::BatchNorm2d norm{nullptr};
  torch::nn::Linear head{nullptr}, unused{nullptr}, frozen{nullptr};
  explicit Net(bool batch_norm = true) {
    conv = register_module("conv", torch::nn::Conv2d(torch::nn::Conv2dOptions(3, 4, 3).padding(1)));
    if (batch_norm) norm = register_module("norm", torch::nn::BatchNorm2d(4));
    head = register_module("head", torch::nn::Linear(4 * 8 * 8, 5));
    unused = register_module("unused", torch::nn::Linear(2, 2));
    frozen = register_module("frozen", torch::nn::Linear(5, 5));
    for (auto& parameter : frozen->parameters()) parameter.requires_grad_(false);
  }
  torch::Tensor forward(torch::Tensor x) {
    x = conv(x);
    if (norm) x = norm(x);
    return frozen(head(torch::relu(x).flatten(1)));
  }
};

const DataShape kImages = image_shape(3, 8, 5);

ModelSettings settings_for(const DataShape& shape) {
  ModelSettings settings;
  settings.data = shape;
  return settings;
}

// A replica and a second copy of its module with equal values.
struct Pair {
  std::shared_ptr<Net> inside, reference;
  std::unique_ptr<Replica> replica;
};
Pair pair(const ModelSettings& settings, bool batch_norm = true) {
  Pair result;
  result.reference = std::make_shared<Net>(batch_norm);
  result.inside = std::make_shared<Net>(batch_norm);
  const torch::NoGradGuard no_grad;
  for (const auto& item : result.reference->named_parameters()) {
    result.inside->named_parameters()[item.key()].copy_(item.value());
  }
  result.replica = model_from([&] { return result.inside; })->make(settings);
  return result;
}

torch::Tensor loss_of(Net& net, const Batch& batch, double smoothing = 0) {
  namespace F = torch::nn::functional;
  return F::cross_entropy(net.forward(input_view(batch).contiguous()), label_view(batch),
                          F::CrossEntropyFuncOptions().label_smoothing(smoothing));
}

void expect_gradients(const Pair& pair, double factor, double tolerance) {
  for (const auto& layer : pair.replica->layers()) {
    const auto wanted = pair.reference->named_parameters()[layer.name].grad();
    const auto found = torch::from_blob(pair.replica->grads().data() + layer.offset, layer.shape);
    if (!wanted.defined()) {
      EXPECT_EQ(found.abs().max().item<float>(), 0) << layer.name;
    } else {
      EXPECT_LE((found - wanted * factor).abs().max().item<double>(), tolerance) << layer.name;
    }
  }
}

TEST(ModuleReplica, ParametersGradientsAndBuffersStayViewsOfTheFlatVectors) {
  auto net = pair(settings_for(kImages));
  for (int step = 0; step < 3; ++step) {
    net.replica->forward_backward(random_batch(kImages, 4, 1), 1.0f);
    for (const auto& layer : net.replica->layers()) {
      const auto parameter = net.inside->named_parameters()[layer.name];
      EXPECT_EQ(parameter.data_ptr<float>(), net.replica->params().data() + layer.offset);
      EXPECT_EQ(parameter.grad().data_ptr<float>(), net.replica->grads().data() + layer.offset);
    }
  }
  EXPECT_EQ(net.replica->buffers().size(), 8u);  // mean and variance of 4 channels
  EXPECT_EQ(net.inside->norm->running_mean.data_ptr<float>(), net.replica->buffers().data());
  EXPECT_NE(net.replica->buffers()[0], 0.0f);
}

TEST(ModuleReplica, GradientIsAutogradsTimesTheWeight) {
  auto settings = settings_for(kImages);
  settings.label_smoothing = 0.1;
  auto net = pair(settings);
  const auto batch = random_batch(kImages, 6, 3);
  for (int repeat = 0; repeat < 2; ++repeat) {  // overwritten, not added to
    const auto result = net.replica->forward_backward(batch, 0.25f);
    net.reference->zero_grad();
    const auto loss = loss_of(*net.reference, batch, 0.1);
    loss.backward();
    EXPECT_NEAR(result.loss, loss.item<double>(), 1e-5);
    EXPECT_EQ(result.labels, 6u);
    expect_gradients(net, 0.25, 1e-6);
  }
}

TEST(ModuleReplica, FiftyStepsOfPlainSgdAreTorchsOwn) {
  auto net = pair(settings_for(kImages));
  torch::optim::SGD sgd(net.reference->parameters(), 0.05);
  for (std::uint64_t step = 0; step < 50; ++step) {
    const auto batch = random_batch(kImages, 8, step);
    net.replica->forward_backward(batch, 1.0f);
    for (std::size_t i = 0; i < net.replica->params().size(); ++i) {
      net.replica->params()[i] -= 0.05f * net.replica->grads()[i];
    }
    net.replica->apply_update();
    sgd.zero_grad();
    loss_of(*net.reference, batch).backward();
    sgd.step();
  }
  for (const auto& item : net.reference->named_parameters()) {
    const auto found = net.inside->named_parameters()[item.key()];
    if (item.key().starts_with("frozen")) continue;  // stays what it was, in neither
    EXPECT_LE((found - item.value()).abs().max().item<double>(), 1e-5) << item.key();
  }
  EXPECT_LE(
      (net.inside->norm->running_var - net.reference->norm->running_var).abs().max().item<double>(),
      1e-5);
}

TEST(ModuleReplica, AnnouncesEveryLayerOnceAndWithItsFinalGradient) {
  auto net = pair(settings_for(kImages));
  std::map<std::size_t, float> first;
  net.replica->forward_backward(random_batch(kImages, 4, 1), 1.0f, [&](std::size_t layer) {
    if (layer == kForwardOver) return;
    const float value = net.replica->grads()[net.replica->layers()[layer].offset];
    EXPECT_TRUE(first.emplace(layer, value).second);
  });
  ASSERT_EQ(first.size(), net.replica->layers().size());
  for (const auto& [layer, value] : first) {
    EXPECT_EQ(value, net.replica->grads()[net.replica->layers()[layer].offset]);
  }
  EXPECT_THROW(net.replica->forward_backward(random_batch(kImages, 4, 1), 1.0f,
                                             [](std::size_t layer) {
                                               if (layer != kForwardOver) throw CommError("gone");
                                             }),
               CommError);
}

TEST(ModuleReplica, LayersHaveTheirKindsAndFrozenOnesAreNone) {
  auto net = pair(settings_for(kImages));
  std::map<std::string, LayerKind> kinds;
  for (const auto& layer : net.replica->layers()) kinds[layer.name] = layer.kind;
  EXPECT_EQ(kinds.at("conv.weight"), LayerKind::kWeight);
  EXPECT_EQ(kinds.at("conv.bias"), LayerKind::kBias);
  EXPECT_EQ(kinds.at("norm.weight"), LayerKind::kNorm);
  EXPECT_EQ(kinds.at("norm.bias"), LayerKind::kNorm);
  EXPECT_FALSE(kinds.contains("frozen.weight"));
}

TEST(ModuleReplica, EmptyBatchGivesZerosAndAnnouncesAll) {
  auto net = pair(settings_for(kImages));
  net.replica->forward_backward(random_batch(kImages, 4, 1), 1.0f);
  Batch empty;
  empty.shape = kImages;
  std::size_t announced = 0;
  const auto result = net.replica->forward_backward(empty, 1.0f, [&](std::size_t) { ++announced; });
  EXPECT_EQ(result.labels, 0u);
  EXPECT_EQ(announced, net.replica->layers().size());
  for (const float value : net.replica->grads()) ASSERT_EQ(value, 0.0f);
}

TEST(ModuleReplica, EvaluatingChangesNothing) {
  auto net = pair(settings_for(kImages));
  net.replica->forward_backward(random_batch(kImages, 4, 1), 1.0f);
  const std::vector<float> buffers(net.replica->buffers().begin(), net.replica->buffers().end());
  const std::vector<float> grads(net.replica->grads().begin(), net.replica->grads().end());
  const auto batch = random_batch(kImages, 4, 2);
  const auto first = net.replica->evaluate(batch), second = net.replica->evaluate(batch);
  EXPECT_EQ(first.loss, second.loss);
  EXPECT_EQ(buffers,
            std::vector<float>(net.replica->buffers().begin(), net.replica->buffers().end()));
  EXPECT_EQ(grads, std::vector<float>(net.replica->grads().begin(), net.replica->grads().end()));
}

// 16 bits leave a relative error of 2^-8 (bf16) or 2^-11 (fp16) at each rounding.
TEST(ModuleReplica, SixteenBitGradientsAreNearThoseOfFloat) {
  for (const auto& [precision, tolerance] : {std::pair{"bf16", 0.02}, {"fp16", 0.003}}) {
    auto settings = settings_for(kImages);
    settings.precision = precision;
    auto net = pair(settings, false);
    const auto batch = random_batch(kImages, 6, 3);
    net.replica->forward_backward(batch, 1.0f);
    loss_of(*net.reference, batch).backward();
    expect_gradients(net, 1.0, tolerance);
    EXPECT_EQ(net.replica->may_overflow(), std::string(precision) == "fp16");
    EXPECT_FALSE(net.replica->remarks().empty());
    // The master weights keep all their bits.
    EXPECT_EQ(net.replica->params()[0], net.reference->conv->weight.data_ptr<float>()[0]);
    EXPECT_NE(net.inside->conv->weight.data_ptr<float>(), net.replica->params().data());
  }
}

TEST(ModuleReplica, SavesTheMasterWeights) {
  auto settings = settings_for(kImages);
  settings.precision = "bf16";
  auto net = pair(settings);
  const auto path = std::filesystem::temp_directory_path() /
                    ("lockstep-module-" + std::to_string(::getpid()) + ".pt");
  net.replica->save(path);
  auto back = std::make_shared<Net>();
  torch::load(back, path.string());
  std::filesystem::remove(path);
  EXPECT_TRUE(torch::equal(back->conv->weight, net.reference->conv->weight));
  EXPECT_FALSE(torch::equal(net.inside->conv->weight, net.reference->conv->weight));  // rounded
  EXPECT_THROW(net.replica->save("/nonexistent/model.pt"), DataError);
}

// The count of batches is a whole number: not in buffers(), but in state().
struct Store : StateVisitor {
  std::map<std::string, std::vector<std::byte>> stored;
  bool restoring = false;
  void floats(std::string_view, std::span<float>) override {}
  void integer(std::string_view, std::int64_t&) override {}
  void real(std::string_view, double&) override {}
  void bytes(std::string_view name, std::vector<std::byte>& value) override {
    auto& mine = stored[std::string(name)];
    (restoring ? value : mine) = restoring ? mine : value;
  }
};

TEST(ModuleReplica, StateHoldsTheBuffersThatAreNotFloats) {
  auto trained = pair(settings_for(kImages)), fresh = pair(settings_for(kImages));
  for (int i = 0; i < 3; ++i) trained.replica->forward_backward(random_batch(kImages, 4, 1), 1.0f);
  Store store;
  trained.replica->state(store);
  EXPECT_EQ(trained.inside->norm->num_batches_tracked.item<std::int64_t>(), 3);
  store.restoring = true;
  fresh.replica->state(store);
  EXPECT_EQ(fresh.inside->norm->num_batches_tracked.item<std::int64_t>(), 3);
  store.stored.begin()->second.pop_back();
  EXPECT_THROW(fresh.replica->state(store), DataError);
}

TEST(ModuleReplica, SaysWhatDoesNotFit) {
  const auto message = [](const ModelSettings& settings) -> std::string {
    try {
      pair(settings);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(message(settings_for(image_shape(3, 8, 7))).find("needed: Float 2×7"),
            std::string::npos);
  EXPECT_NE(message(settings_for(image_shape(1, 8, 5))).find("samples of shape 1×8×8"),
            std::string::npos);
  auto shared = settings_for(kImages);
  shared.batch_norm = "shared";
  EXPECT_NE(message(shared).find("batch_norm = \"shared\""), std::string::npos);
}

// Convolutions, forward and backward: 3 × 2 × weights × places, and the linear layers.
TEST(ModuleReplica, ModelledSecondsFollowTheArithmetic) {
  const auto net = pair(settings_for(kImages));
  const double flops = 2.0 * (4 * 3 * 9 * 64 + 256 * 5 + 5 * 5);
  EXPECT_NEAR(net.replica->modelled_seconds(), 3 * flops / 50e9, 0.02 * 3 * flops / 50e9);
}

}  // namespace
}  // namespace lockstep
