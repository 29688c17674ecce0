#include "lockstep/train/timed_pass.h"

#include <algorithm>
#include <numeric>

#include "lockstep/base/aligned.h"
#include "lockstep/collective/measure.h"

namespace lockstep {
namespace {

constexpr int kMeasuredPasses = 3;

}  // namespace

PassResult TimedPass::run(const Batch& batch, float weight, double slowdown,
                          OverlappedAveraging* overlap) {
  if (overlap != nullptr && transport_.simulated()) {
    return run_replayed(batch, weight, slowdown, *overlap);
  }
  double last = transport_.now();
  // A slow worker is slow all the way, not only at its end.
  const auto slow_down = [&] {
    if (slowdown <= 1) return;
    transport_.pause((slowdown - 1) * (transport_.now() - last));
    last = transport_.now();
  };
  LayerReady on_layer;
  if (overlap != nullptr) {
    overlap->begin(replica_.grads());
    on_layer = [&](std::size_t index) {
      slow_down();
      overlap->ready(index);
    };
  }
  const PassResult result = replica_.forward_backward(batch, weight, on_layer);
  transport_.charge(replica_.modelled_seconds() * static_cast<double>(batch.size()));
  slow_down();
  return result;
}

PassResult TimedPass::run_replayed(const Batch& batch, float weight, double slowdown,
                                   OverlappedAveraging& overlap) {
  std::vector<std::size_t> order;
  const PassResult result =
      replica_.forward_backward(batch, weight, [&](std::size_t index) { order.push_back(index); });
  const auto take = [&](double seconds) {
    const double began = transport_.now();
    transport_.charge(seconds * static_cast<double>(batch.size()));
    if (slowdown > 1) transport_.pause((slowdown - 1) * (transport_.now() - began));
  };
  const std::vector<double> backward = modelled_backward();
  take(replica_.modelled_seconds() - std::accumulate(backward.begin(), backward.end(), 0.0));
  overlap.begin(replica_.grads());
  for (const std::size_t index : order) {
    take(backward[index]);
    overlap.ready(index);
  }
  return result;
}

std::vector<double> TimedPass::modelled_backward() const {
  const auto known = replica_.backward_seconds();
  if (!known.empty()) return {known.begin(), known.end()};
  // Two thirds of a pass, by the layers' sizes.
  std::vector<double> seconds;
  double sizes = 0;
  for (const Layer& layer : replica_.layers()) sizes += static_cast<double>(layer.size);
  for (const Layer& layer : replica_.layers()) {
    seconds.push_back(replica_.modelled_seconds() * 2 / 3 * static_cast<double>(layer.size) /
                      sizes);
  }
  return seconds;
}

std::vector<double> TimedPass::layer_times(const Batch& batch) {
  const std::size_t layers = replica_.layers().size();
  std::vector<double> ready(layers);
  if (transport_.simulated()) {
    const std::vector<double> backward = modelled_backward();
    double at = 0;
    for (std::size_t i = layers; i-- > 0;) {
      ready[i] = at += backward[i] * static_cast<double>(batch.size());
    }
    return ready;
  }
  const auto buffers = replica_.buffers();
  const AlignedVector<float> before(buffers.begin(), buffers.end());
  std::vector<std::vector<double>> times(layers);
  for (int pass = 0; pass <= kMeasuredPasses; ++pass) {
    double first = -1;
    replica_.forward_backward(batch, 1, [&](std::size_t index) {
      const double now = transport_.now();
      if (first < 0) first = now;
      if (pass > 0) times[index].push_back(now - first);  // the first one is slow
    });
  }
  std::ranges::copy(before, buffers.begin());
  for (std::size_t i = 0; i < layers; ++i) {
    if (!times[i].empty()) ready[i] = summarise(times[i]).median;
  }
  return ready;
}

}  // namespace lockstep
