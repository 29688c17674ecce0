#include "lockstep/optim/layerwise.h"

#include <algorithm>

#include "lockstep/base/error.h"

namespace lockstep {

OptionSet optimizer_options(double lr, double weight_decay) {
  OptionSet options;
  options.real("lr", lr, "learning rate, before the schedule").at_least(0);
  options.real("weight_decay", weight_decay, "how strongly weights are drawn to 0").at_least(0);
  options.flag("decay_norm", true, "do scale and shift of normalisations decay too?");
  options.flag("decay_bias", true, "do biases decay too?");
  return options;
}

LayerwiseOptimizer::LayerwiseOptimizer(const Options& options)
    : lr_(options.real("lr")),
      weight_decay_(options.real("weight_decay")),
      decay_norm_(options.flag("decay_norm")),
      decay_bias_(options.flag("decay_bias")) {}

void LayerwiseOptimizer::remember(std::string name, Memory& memory) {
  remembered_.push_back({std::move(name), &memory});
}

bool LayerwiseOptimizer::decays(LayerKind kind) const {
  if (kind == LayerKind::kNorm) return decay_norm_;
  if (kind == LayerKind::kBias) return decay_bias_;
  return true;
}

void LayerwiseOptimizer::prepare(std::span<const Layer> layers) {
  layers_.assign(layers.begin(), layers.end());
  size_ = 0;
  for (const Layer& layer : layers_) {
    LOCKSTEP_CHECK(layer.offset == size_, "layer {} begins at {} instead of {}", layer.name,
                   layer.offset, size_);
    size_ += layer.size;
  }
  reset();
}

void LayerwiseOptimizer::reset() {
  for (const Remembered& item : remembered_) item.memory->assign(size_, 0.0f);
  count_ = 0;
  last_step_ = -1;
}

void LayerwiseOptimizer::update(std::int64_t step, const Rates& rates, std::span<float> params,
                                std::span<const float> grads, std::size_t first, std::size_t last) {
  LOCKSTEP_CHECK(params.size() == size_ && grads.size() == size_,
                 "{} parameters and {} gradients, but the layers have {}", params.size(),
                 grads.size(), size_);
  LOCKSTEP_CHECK(first <= last && last <= layers_.size(), "layers {} to {} of {}", first, last,
                 layers_.size());
  count(step);
  for (std::size_t i = first; i < last; ++i) {
    const Layer& layer = layers_[i];
    update_layer(
        update_of(layer, rates, params.data() + layer.offset, grads.data() + layer.offset));
  }
}

void LayerwiseOptimizer::update_part(std::int64_t step, const Rates& rates, std::span<float> params,
                                     std::size_t begin, std::span<const float> grads) {
  const std::size_t end = begin + grads.size();
  LOCKSTEP_CHECK(params.size() == size_ && end <= size_, "{} parameters, elements {} to {} of {}",
                 params.size(), begin, end, size_);
  count(step);
  auto layer = std::upper_bound(layers_.begin(), layers_.end(), begin,
                                [](std::size_t at, const Layer& l) { return at < l.offset; });
  for (layer = std::prev(layer); layer != layers_.end() && layer->offset < end; ++layer) {
    const std::size_t from = std::max(begin, layer->offset);
    const std::size_t to = std::min(end, layer->offset + layer->size);
    if (from >= to) continue;
    LOCKSTEP_CHECK(!whole_layers() || to - from == layer->size, "a part of layer {}", layer->name);
    const Layer part{layer->name, from, to - from, {}, layer->kind};
    update_layer(update_of(part, rates, params.data() + from, grads.data() + (from - begin)));
  }
}

// Several calls may make one step.
void LayerwiseOptimizer::count(std::int64_t step) {
  if (step == last_step_) return;
  ++count_;
  last_step_ = step;
}

LayerUpdate LayerwiseOptimizer::update_of(const Layer& layer, const Rates& rates, float* weights,
                                          const float* gradients) const {
  return {.layer = layer,
          .weights = weights,
          .gradients = gradients,
          .lr = rates.lr,
          .weight_decay = decays(layer.kind) ? rates.weight_decay : 0,
          .epoch = rates.epoch,
          .count = count_};
}

void LayerwiseOptimizer::state(StateVisitor& visitor) {
  visitor.integer("updates", count_);
  visitor.integer("last_step", last_step_);
  for (const Remembered& item : remembered_) visitor.floats(item.name, *item.memory);
}

}  // namespace lockstep
