// Your own network and your own data, trained data-parallel: four workers tell points inside a
// circle from points outside.
#include <torch/torch.h>

#include <cstdio>

#include "lockstep/base/random.h"
#include "lockstep/model/user_module.h"
#include "lockstep/train/train.h"

struct Net : torch::nn::Module {
  torch::nn::Linear hidden{register_module("hidden", torch::nn::Linear(2, 32))};
  torch::nn::Linear out{register_module("out", torch::nn::Linear(32, 2))};
  torch::Tensor forward(torch::Tensor x) { return out(torch::tanh(hidden(x))); }
};

std::shared_ptr<const lockstep::Dataset> points() {
  auto data = std::make_shared<lockstep::Dataset>();
  data->name = "points";
  data->shape = {lockstep::DataShape::Kind::kVector, {2}, 2, 0};
  data->samples = data->first_test = 4000;
  lockstep::Random random(1, "points");
  lockstep::AlignedVector<float> values;
  for (std::size_t i = 0; i < data->samples; ++i) {
    const double x = random.uniform(-1, 1), y = random.uniform(-1, 1);
    values.insert(values.end(), {static_cast<float>(x), static_cast<float>(y)});
    data->labels.push_back(x * x + y * y < 0.6);
  }
  data->values = std::move(values);
  return data;
}

int main(int argc, char** argv) {
  lockstep::TrainRequest request;
  request.config.set({"cluster.workers=4", "train.epochs=20", "train.batch=64", "optim.lr=0.2"});
  request.ingredients = {points(), lockstep::model_from([] { return std::make_shared<Net>(); })};
  request.out = argc > 1 ? argv[1] : "run";
  try {
    const auto world = lockstep::make_world(request.config);
    const auto result = lockstep::train(*world, request);
    std::printf("accuracy %.3f on points it has not seen\n", result.validation.accuracy());
    return result.validation.accuracy() > 0.9 ? 0 : 1;
  } catch (const lockstep::Error& error) {
    std::fprintf(stderr, "own_model: %s\n", error.what());
    return error.exit_code();
  }
}
