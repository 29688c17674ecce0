#include "lockstep/train/timed_pass.h"

#include <algorithm>
#include <numeric>

#include "lockstep/base/aligned.h"
#include "lockstep/base/state_store.h"
#include "lockstep/collective/measure.h"

namespace lockstep {
namespace {

constexpr int kMeasuredPasses = 3;

}  // namespace

TimedPass::TimedPass(Transport& transport, Replica& replica)
    : transport_(transport),
      replica_(replica),
      on_layer_([this](std::size_t index) { on_layer(index); }) {}

PassResult TimedPass::run(const Batch& batch, float weight, double slowdown,
                          OverlappedAveraging* overlap) {
  overlap_ = overlap;
  slowdown_ = slowdown;
  last_ = forward_end_ = transport_.now();
  if (overlap != nullptr) overlap->begin(replica_.grads());
  if (transport_.simulated() && !replica_.keeps_time()) return run_replayed(batch, weight);
  if (replica_.keeps_time() && overlap == nullptr) {
    return replica_.forward_backward(batch, weight, {});
  }
  const PassResult result = replica_.forward_backward(batch, weight, on_layer_);
  if (!replica_.keeps_time())
    charge(replica_.modelled_seconds() * static_cast<double>(batch.size()));
  return result;
}

void TimedPass::on_layer(std::size_t index) {
  slow_down();
  if (index == kForwardOver) {
    forward_end_ = transport_.now();
  } else if (overlap_ != nullptr) {
    overlap_->ready(index);
  }
}

void TimedPass::charge(double seconds) {
  transport_.charge(seconds);
  slow_down();
}

// A slow worker is slow all the way, not only at its end.
void TimedPass::slow_down() {
  if (slowdown_ <= 1) return;
  transport_.pause((slowdown_ - 1) * (transport_.now() - last_));
  last_ = transport_.now();
}

PassResult TimedPass::run_replayed(const Batch& batch, float weight) {
  std::vector<std::size_t> order;
  const PassResult result = replica_.forward_backward(batch, weight, [&](std::size_t index) {
    if (index != kForwardOver) order.push_back(index);
  });
  const auto samples = static_cast<double>(batch.size());
  const double whole = replica_.modelled_seconds();
  if (overlap_ == nullptr) {  // layer by layer would take long to simulate
    charge(whole / 3 * samples);
    forward_end_ = transport_.now();
    charge(whole * 2 / 3 * samples);
    return result;
  }
  const std::vector<double> backward = modelled_backward();
  charge((whole - std::accumulate(backward.begin(), backward.end(), 0.0)) * samples);
  forward_end_ = transport_.now();
  for (const std::size_t index : order) {
    charge(backward[index] * samples);
    overlap_->ready(index);
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
  if (transport_.simulated() && !replica_.keeps_time()) {
    const std::vector<double> backward = modelled_backward();
    double at = 0;
    for (std::size_t i = layers; i-- > 0;) {
      ready[i] = at += backward[i] * static_cast<double>(batch.size());
    }
    return ready;
  }
  const StateStore kept([this](StateVisitor& visitor) { replica_.state(visitor); });
  const auto buffers = replica_.buffers();
  const AlignedVector<float> before(buffers.begin(), buffers.end());
  std::vector<std::vector<double>> times(layers);
  for (int pass = 0; pass <= kMeasuredPasses; ++pass) {
    double first = -1;
    replica_.forward_backward(batch, 1, [&](std::size_t index) {
      if (index == kForwardOver) return;
      const double now = transport_.now();
      if (first < 0) first = now;
      if (pass > 0) times[index].push_back(now - first);  // the first one is slow
    });
  }
  std::ranges::copy(before, buffers.begin());
  kept.restore([this](StateVisitor& visitor) { replica_.state(visitor); });
  for (std::size_t i = 0; i < layers; ++i) {
    if (!times[i].empty()) ready[i] = summarise(times[i]).median;
  }
  return ready;
}

}  // namespace lockstep
