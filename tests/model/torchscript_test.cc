#include <gtest/gtest.h>
#include <torch/script.h>

#include <fstream>

#include "batches.h"
#include "lockstep/base/error.h"
#include "lockstep/model/replica.h"
#include "lockstep/model/torchscript_file.h"
#include "temporary_folder.h"

namespace lockstep {
namespace {

const DataShape kImages = image_shape(3, 6, 4);

// A small convolutional network as Python would export it; `between` stands after the convolution.
torch::jit::Module script(const std::string& between = "") {
  torch::jit::Module module("__torch__.Net");
  module.register_parameter("kernel", torch::randn({5, 3, 3, 3}) * 0.2, false);
  module.register_parameter("weight", torch::randn({4, 5 * 16}) * 0.1, false);
  module.register_parameter("bias", torch::zeros({4}), false);
  module.register_buffer("running_mean", torch::zeros({5}));
  module.register_buffer("running_var", torch::ones({5}));
  module.register_buffer("seen", torch::zeros({1}, torch::kLong));
  module.register_attribute("training", c10::BoolType::get(), true);
  for (auto parameter : module.parameters()) parameter.requires_grad_();
  module.define(R"(
def forward(self, x):
    x = torch.conv2d(x, self.kernel)
)" + between + R"(
    return torch.linear(torch.relu(x).reshape(x.size(0), -1), self.weight, self.bias)
)");
  return module;
}

const std::string kBatchNorm = R"(
    if self.training:
        self.seen = self.seen + x.size(0)
    x = torch.batch_norm(x, None, None, self.running_mean, self.running_var, self.training, 0.1, 1e-5, False)
)";

std::unique_ptr<ModelKind> kind(const std::string& path) {
  auto& registry = Registry<ModelKind>::instance();
  Options options = registry.options("torchscript");
  options.set_value("file", path);
  return registry.make("torchscript", options);
}

std::unique_ptr<Replica> replica_of(const std::string& path, const DataShape& shape = kImages) {
  ModelSettings settings;
  settings.data = shape;
  return kind(path)->make(settings);
}

void train(Replica& replica, int steps) {
  for (int step = 0; step < steps; ++step) {
    replica.forward_backward(random_batch(kImages, 8, static_cast<std::uint64_t>(step)), 1.0f);
    for (std::size_t i = 0; i < replica.params().size(); ++i) {
      replica.params()[i] -= 0.1f * replica.grads()[i];
    }
  }
}

std::string error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(TorchScript, KeepsItsWeightsTrainsAndLeavesAsItCame) {
  const TemporaryFolder folder;
  auto module = script(kBatchNorm);
  module.save(folder.file("in.pt"));
  auto replica = replica_of(folder.file("in.pt"));
  EXPECT_EQ(replica->params()[0], module.attr("kernel").toTensor().data_ptr<float>()[0]);

  const auto batch = random_batch(kImages, 8, 0);
  const double before = replica->forward_backward(batch, 1.0f).loss;
  train(*replica, 20);
  replica->save(folder.file("out.pt"));
  auto trained = replica_of(folder.file("out.pt"));
  EXPECT_TRUE(std::ranges::equal(replica->params(), trained->params()));
  EXPECT_TRUE(std::ranges::equal(replica->buffers(), trained->buffers()));
  EXPECT_EQ(replica->evaluate(batch).loss, trained->evaluate(batch).loss);
  EXPECT_LT(trained->forward_backward(batch, 1.0f).loss, before);
}

// The module puts a new tensor in the place of `seen` each time; the running statistics are flat.
TEST(TorchScript, BuffersAreTakenAlong) {
  const TemporaryFolder folder;
  script(kBatchNorm).save(folder.file("in.pt"));
  auto replica = replica_of(folder.file("in.pt"));
  ASSERT_EQ(replica->buffers().size(), 10u);
  train(*replica, 3);
  EXPECT_NE(replica->buffers()[0], 0.0f);
  replica->save(folder.file("out.pt"));
  EXPECT_EQ(torch::jit::load(folder.file("out.pt")).attr("seen").toTensor().item<std::int64_t>(),
            24);
}

// The graph runs as it was exported: no pass differs from another, in order or in roundings.
TEST(TorchScript, EveryPassIsTheSame) {
  const TemporaryFolder folder;
  script().save(folder.file("in.pt"));
  auto replica = replica_of(folder.file("in.pt"));
  const auto batch = random_batch(kImages, 8, 0);
  std::vector<std::size_t> first_order;
  std::vector<float> first_gradient;
  for (int pass = 0; pass < 4; ++pass) {
    std::vector<std::size_t> order;
    replica->forward_backward(batch, 1.0f, [&](std::size_t layer) { order.push_back(layer); });
    if (pass == 0) {
      first_order = order;
      first_gradient.assign(replica->grads().begin(), replica->grads().end());
    }
    EXPECT_EQ(order, first_order);
    EXPECT_TRUE(std::ranges::equal(replica->grads(), first_gradient));
  }
}

TEST(TorchScript, SeesBatchNormAndDropout) {
  const TemporaryFolder folder;
  script().save(folder.file("plain.pt"));
  script(kBatchNorm).save(folder.file("norm.pt"));
  script("    x = torch.dropout(x, 0.5, self.training)\n").save(folder.file("dropout.pt"));
  EXPECT_TRUE(kind(folder.file("plain.pt"))->mergeable());
  EXPECT_FALSE(kind(folder.file("norm.pt"))->mergeable());
  EXPECT_FALSE(kind(folder.file("dropout.pt"))->mergeable());

  auto replica = replica_of(folder.file("dropout.pt"));
  EXPECT_EQ(replica->remarks().size(), 1u);
  const auto batch = random_batch(kImages, 8, 0);
  const double loss = replica->forward_backward(batch, 1.0f).loss;  // keyed by sample and step
  EXPECT_EQ(replica->forward_backward(batch, 1.0f).loss, loss);
  EXPECT_NE(replica->evaluate(batch).loss, loss);
}

// view() needs torch's default layout; such modules are common.
TEST(TorchScript, ModulesThatReshapeByViewGetTheirLayout) {
  const TemporaryFolder folder;
  torch::manual_seed(1);
  auto by_view = script("    x = x.view([x.size(0), -1]).view([x.size(0), 5, 4, 4])\n");
  by_view.save(folder.file("view.pt"));
  auto replica = replica_of(folder.file("view.pt"));
  EXPECT_EQ(replica->remarks().size(), 1u);
  torch::manual_seed(1);
  script().save(folder.file("plain.pt"));
  auto plain = replica_of(folder.file("plain.pt"));
  const auto batch = random_batch(kImages, 8, 0);
  EXPECT_NEAR(replica->forward_backward(batch, 1.0f).loss,
              plain->forward_backward(batch, 1.0f).loss, 1e-6);
}

TEST(TorchScript, SaysWhatIsWrongWithTheFile) {
  const TemporaryFolder folder;
  EXPECT_THROW(kind(""), ConfigError);
  EXPECT_THROW(kind(folder.file("missing.pt")), DataError);
  std::ofstream(folder.file("text.pt")) << "this is no module";
  EXPECT_THROW(kind(folder.file("text.pt")), DataError);
  torch::jit::Module empty("__torch__.Empty");
  empty.define("def forward(self, x):\n    return x\n");
  empty.save(folder.file("empty.pt"));
  EXPECT_NE(error_of([&] { replica_of(folder.file("empty.pt")); }).find("no parameters"),
            std::string::npos);
  script().save(folder.file("net.pt"));
  const auto wrong = error_of([&] { replica_of(folder.file("net.pt"), image_shape(3, 6, 10)); });
  EXPECT_NE(wrong.find("net.pt gives Float 2×4 for a batch of 2; needed: Float 2×10"),
            std::string::npos)
      << wrong;
  const auto unfit = error_of([&] { replica_of(folder.file("net.pt"), image_shape(1, 6, 4)); });
  EXPECT_NE(unfit.find("samples of shape 1×6×6"), std::string::npos) << unfit;
  EXPECT_EQ(unfit.find('\n'), std::string::npos) << unfit;
}

// Forward and backward, 3 × 2 × (kernel × places + weights), also where the interpreter calls.
TEST(TorchScript, ModelledSecondsFollowTheArithmetic) {
  const TemporaryFolder folder;
  script().save(folder.file("in.pt"));
  const double flops = 2.0 * (5 * 3 * 9 * 16 + 4 * 80);
  EXPECT_NEAR(replica_of(folder.file("in.pt"))->modelled_seconds(), 3 * flops / 50e9, 1e-12);
}

// Wherever a file is cut or a bit is wrong: a DataError of one line, or the same module.
TEST(TorchScript, DamagedFilesAreNamedAndNeverCrash) {
  const TemporaryFolder folder;
  const auto good = folder.file("good.pt"), bad = folder.file("bad.pt");
  script().save(good);
  std::ifstream file(good, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const auto weights = load_torchscript(good).attr("weight").toTensor();
  int refused = 0;
  const auto check = [&](const std::string& damaged, std::size_t at) {
    std::ofstream(bad, std::ios::binary) << damaged;
    try {
      EXPECT_TRUE(torch::equal(load_torchscript(bad).attr("weight").toTensor(), weights)) << at;
    } catch (const DataError& error) {
      ++refused;
      EXPECT_NE(std::string(error.what()).find(bad), std::string::npos);
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    }
  };
  int tried = 0;
  for (std::size_t at = 0; at < bytes.size(); at += 97, ++tried) check(bytes.substr(0, at), at);
  EXPECT_EQ(refused, tried);
  refused = 0;
  for (std::size_t at = 0; at < bytes.size(); at += 31) {
    auto damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << at % 8));
    check(damaged, at);
  }
  EXPECT_GT(refused, 50);
}

}  // namespace
}  // namespace lockstep
