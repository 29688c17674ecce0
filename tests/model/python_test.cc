// Modules go to Python and come from it. Only built where the interpreter can import torch.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "batches.h"
#include "lockstep/model/replica.h"
#include "temporary_folder.h"

namespace lockstep {
namespace {

const DataShape kImages = image_shape(3, 8, 5);
constexpr int kSteps = 10, kBatch = 4;

int python(const TemporaryFolder& folder, const std::string& program) {
  std::ofstream(folder.file("program.py")) << "import sys, torch\n" << program;
  return std::system(("cd '" + folder.file("") + "' && '" LOCKSTEP_PYTHON "' program.py").c_str());
}

// Python exports, Lockstep trains, Python trains the same module on the same batches and compares.
TEST(Python, TrainsTorchScriptAsLockstepDoes) {
  const TemporaryFolder folder;
  ASSERT_EQ(python(folder, R"(
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU(),
                          torch.nn.Flatten(), torch.nn.Linear(4 * 36, 5))
torch.jit.script(net).save("net.pt")
)"),
            0);
  auto& registry = Registry<ModelKind>::instance();
  Options options = registry.options("torchscript");
  options.set_value("file", folder.file("net.pt"));
  ModelSettings settings;
  settings.data = kImages;
  auto replica = registry.make("torchscript", options)->make(settings);
  {
    std::ofstream data(folder.file("data"));
    for (int step = 0; step < kSteps; ++step) {
      const auto batch = random_batch(kImages, kBatch, static_cast<std::uint64_t>(step));
      for (const float value : batch.values) data << value << ' ';
      for (const auto label : batch.labels) data << label << ' ';
      replica->forward_backward(batch, 1.0f);
      for (std::size_t i = 0; i < replica->params().size(); ++i) {
        replica->params()[i] -= 0.05f * replica->grads()[i];
      }
    }
  }
  replica->save(folder.file("trained.pt"));
  EXPECT_EQ(python(folder, R"(
net = torch.jit.load("net.pt")
sgd = torch.optim.SGD(net.parameters(), lr=0.05)
data = torch.tensor([float(value) for value in open("data").read().split()]).view(10, -1)
for row in data:
    images, labels = row[:-4].view(4, 8, 8, 3).permute(0, 3, 1, 2), row[-4:].long()
    sgd.zero_grad()
    torch.nn.functional.cross_entropy(net(images), labels).backward()
    sgd.step()
ours = torch.jit.load("trained.pt").state_dict()
for name, value in net.state_dict().items():
    if not torch.allclose(value, ours[name], atol=1e-4): sys.exit(name + " differs")
)"),
            0);
}

TEST(Python, RunsSavedLstms) {
  const TemporaryFolder folder;
  auto& registry = Registry<ModelKind>::instance();
  ModelSettings settings;
  settings.data = kImages;
  registry.make("lstm")->make(settings)->save(folder.file("image.pt"));
  settings.data = text_shape(7, 9);
  registry.make("lstm")->make(settings)->save(folder.file("text.pt"));
  EXPECT_EQ(python(folder, R"(
assert torch.jit.load("image.pt")(torch.zeros(2, 3, 8, 8)).shape == (2, 5)
assert torch.jit.load("text.pt")(torch.zeros(2, 7, dtype=torch.long)).shape == (2, 7, 9)
)"),
            0);
}

}  // namespace
}  // namespace lockstep
