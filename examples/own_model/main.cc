// Your own network and your own data, trained data-parallel: two workers tell points inside a
// circle from points outside.
#include <torch/torch.h>

#include <cstdio>

#include "lockstep/base/random.h"
#include "lockstep/collective/all_reduce.h"
#include "lockstep/collective/collectives.h"
#include "lockstep/model/user_module.h"
#include "lockstep/transport/world.h"

using namespace lockstep;

struct Net : torch::nn::Module {
  torch::nn::Linear hidden{register_module("hidden", torch::nn::Linear(2, 32))};
  torch::nn::Linear out{register_module("out", torch::nn::Linear(32, 2))};
  torch::Tensor forward(torch::Tensor x) { return out(torch::tanh(hidden(x))); }
};

const DataShape kPoints{DataShape::Kind::kVector, {2}, 2, 0};

Batch points(int worker, int step) {
  Batch batch;
  batch.shape = kPoints;
  Random random(1, "points", static_cast<std::uint64_t>(worker), static_cast<std::uint64_t>(step));
  for (SampleId id = 0; id < 64; ++id) {
    const double x = random.uniform(-1, 1), y = random.uniform(-1, 1);
    batch.ids.push_back(id);
    batch.values.insert(batch.values.end(), {static_cast<float>(x), static_cast<float>(y)});
    batch.labels.push_back(x * x + y * y < 0.6);
  }
  return batch;
}

int main() {
  const auto model = model_from([] { return std::make_shared<Net>(); });
  const auto all_reduce = Registry<AllReduce>::instance().make("ring");
  double accuracy = 0;
  Registry<World>::instance().make("threads")->run(2, [&](Transport& transport) {
    Group everybody(transport);
    ModelSettings settings;
    settings.data = kPoints;
    const auto replica = model->make(settings);
    broadcast(everybody, replica->params(), 0);
    for (int step = 0; step < 500; ++step) {
      replica->forward_backward(points(transport.rank(), step), 0.5f);  // half of the samples each
      all_reduce->run(everybody, replica->grads(), ReduceOp::kSum);
      for (std::size_t i = 0; i < replica->params().size(); ++i) {
        replica->params()[i] -= 0.5f * replica->grads()[i];
      }
      replica->apply_update();
    }
    const auto result = replica->evaluate(points(2, 0));
    if (transport.rank() == 0) accuracy = static_cast<double>(result.correct) / result.labels;
  });
  std::printf("accuracy %.3f on new points\n", accuracy);
  return accuracy > 0.9 ? 0 : 1;
}
