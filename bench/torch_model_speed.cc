// Forward and backward of ResNet-20 on one thread: Lockstep's chain of layers against the same
// network written with libtorch's modules and autograd, channels-last too. Both take turns, so that
// the ratio is of one run. Usage: bench_model_speed [rounds [batch …]]
#include <omp.h>
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <vector>

#include "lockstep/base/random.h"
#include "lockstep/model/replica.h"

namespace {

namespace nn = torch::nn;

struct BlockImpl : nn::Module {
  BlockImpl(int in, int out, int stride_) : stride(stride_), padding((out - in) / 2) {
    const auto convolution = [](int from, int to, int step) {
      return nn::Conv2d(nn::Conv2dOptions(from, to, 3).stride(step).padding(1).bias(false));
    };
    conv1 = register_module("conv1", convolution(in, out, stride));
    conv2 = register_module("conv2", convolution(out, out, 1));
    norm1 = register_module("norm1", nn::BatchNorm2d(out));
    norm2 = register_module("norm2", nn::BatchNorm2d(out));
  }
  torch::Tensor forward(const torch::Tensor& x) {
    auto y = torch::relu(norm1(conv1(x)));
    y = norm2(conv2(y));
    if (stride == 1) return torch::relu(y + x);
    using torch::indexing::None;
    using torch::indexing::Slice;
    const auto halved = x.index({Slice(), Slice(), Slice(None, None, 2), Slice(None, None, 2)});
    return torch::relu(y + torch::constant_pad_nd(halved, {0, 0, 0, 0, padding, padding}));
  }
  int stride, padding;
  nn::Conv2d conv1{nullptr}, conv2{nullptr};
  nn::BatchNorm2d norm1{nullptr}, norm2{nullptr};
};
TORCH_MODULE(Block);

struct Plain : nn::Module {
  Plain() {
    body = register_module("body", nn::Sequential());
    body->push_back(nn::Conv2d(nn::Conv2dOptions(3, 16, 3).padding(1).bias(false)));
    body->push_back(nn::BatchNorm2d(16));
    body->push_back(nn::ReLU());
    for (int stage = 0, in = 16; stage < 3; ++stage) {
      for (int block = 0; block < 3; ++block, in = 16 << stage) {
        body->push_back(Block(in, 16 << stage, stage > 0 && block == 0 ? 2 : 1));
      }
    }
    classifier = register_module("classifier", nn::Linear(64, 10));
    for (auto& parameter : parameters()) {
      if (parameter.dim() == 4) {
        parameter.set_data(parameter.contiguous(at::MemoryFormat::ChannelsLast));
      }
    }
  }
  torch::Tensor forward(const torch::Tensor& x) {
    return classifier(body->forward(x).mean({2, 3}));
  }
  nn::Sequential body{nullptr};
  nn::Linear classifier{nullptr};
};

// Of the processor, not of the clock: what one core does, whoever else uses the machine.
double seconds(const std::function<void()>& body) {
  const auto began = std::clock();
  body();
  return double(std::clock() - began) / CLOCKS_PER_SEC;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + long(values.size() / 2), values.end());
  return values[values.size() / 2];
}

lockstep::Batch random_batch(std::size_t samples) {
  lockstep::Batch batch;
  batch.shape = {lockstep::DataShape::Kind::kImage, {3, 32, 32}, 10, 0};
  lockstep::Random random(1, "bench");
  for (std::size_t i = 0; i < samples; ++i) {
    batch.ids.push_back(lockstep::SampleId(i));
    batch.labels.push_back(std::int64_t(random.below(10)));
  }
  batch.values.resize(samples * batch.shape.values());
  for (auto& value : batch.values) value = float(random.normal());
  return batch;
}

void compare(std::size_t samples, int rounds) {
  const auto batch = random_batch(samples);
  lockstep::ModelSettings settings;
  settings.data = batch.shape;
  const auto ours =
      lockstep::Registry<lockstep::ModelKind>::instance().make("resnet")->make(settings);
  Plain plain;
  const auto x = torch::from_blob(const_cast<float*>(batch.values.data()),
                                  {long(samples), 3, 32, 32}, {3072, 1, 96, 3});
  const auto labels = torch::from_blob(const_cast<std::int64_t*>(batch.labels.data()),
                                       {long(samples)}, torch::kLong);
  const auto our_step = [&] { ours->forward_backward(batch, 1); };
  const auto plain_step = [&] {
    for (auto& parameter : plain.parameters()) {
      if (parameter.grad().defined()) parameter.mutable_grad().zero_();
    }
    nn::functional::cross_entropy(plain.forward(x), labels).backward();
  };
  our_step();
  plain_step();
  const int repeats = std::max(1, int(128 / samples));
  std::vector<double> our_times, plain_times, ratios;
  for (int round = 0; round < rounds; ++round) {
    const auto repeat = [&](const std::function<void()>& step) {
      return seconds([&] {
        for (int i = 0; i < repeats; ++i) step();
      });
    };
    our_times.push_back(repeat(our_step) / repeats);
    plain_times.push_back(repeat(plain_step) / repeats);
    ratios.push_back(plain_times.back() / our_times.back());
  }
  std::printf("%6zu %12.0f %12.0f %8.2f\n", samples, double(samples) / median(our_times),
              double(samples) / median(plain_times), median(ratios));
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** arguments) {
  omp_set_num_threads(1);
  at::set_num_threads(1);
  const int rounds = count > 1 ? std::atoi(arguments[1]) : 15;
  std::vector<std::size_t> batches{8, 32, 128};
  if (count > 2) batches.clear();
  for (int i = 2; i < count; ++i) batches.push_back(std::size_t(std::atol(arguments[i])));
  std::printf("%6s %12s %12s %8s   images a second of one core, medians of %d rounds\n", "batch",
              "lockstep", "libtorch", "ratio", rounds);
  for (const std::size_t batch : batches) compare(batch, rounds);
}
