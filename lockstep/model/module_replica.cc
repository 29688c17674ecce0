#include "lockstep/model/module_replica.h"

#include <algorithm>
#include <cstring>

#include "lockstep/base/error.h"
#include "lockstep/base/random.h"
#include "lockstep/model/batch_tensors.h"
#include "lockstep/model/flop_count.h"
#include "lockstep/model/torch_error.h"

namespace lockstep {
namespace {

torch::Tensor cross_entropy(const torch::Tensor& scores, const torch::Tensor& labels,
                            double smoothing) {
  namespace F = torch::nn::functional;
  return F::cross_entropy(scores, labels, F::CrossEntropyFuncOptions().label_smoothing(smoothing));
}

// See SoftmaxLoss for the formula.
torch::Tensor soft_cross_entropy(const torch::Tensor& scores, const SoftTargets& soft) {
  const auto targets =
      torch::from_blob(const_cast<float*>(soft.probabilities.data()), scores.sizes());
  return -(targets * scores.log_softmax(1)).sum(1).mean() * soft.weight;
}

std::size_t count_correct(const torch::Tensor& scores, const torch::Tensor& labels) {
  return static_cast<std::size_t>(scores.argmax(1).eq(labels).sum().item<std::int64_t>());
}

std::span<float> values_of(const torch::Tensor& dense) {
  return {dense.data_ptr<float>(), static_cast<std::size_t>(dense.numel())};
}

}  // namespace

ModuleReplica::ModuleReplica(TrainableModule module, const ModelSettings& settings)
    : data_(settings.data),
      seed_(settings.seed),
      label_smoothing_(settings.label_smoothing),
      precision_(parse_precision(settings.precision)),
      module_(std::move(module), precision_ != Precision::kFloat,
              [this](std::size_t index) { finish_layer(index); }),
      finished_(layers().size()) {
  torch::set_num_threads(settings.threads);  // torch would take all cores, in every new thread
  if (module_.has_batch_norm() && settings.batch_norm != "local") {
    throw ConfigError(
        "{} has batch norm of its own, which knows only its worker: batch_norm = \"{}\" is not "
        "possible, \"local\" is",
        title(), settings.batch_norm);
  }
  apply_update();
  const double counted = try_out();
  // Backward does twice the work of forward. Where no product was recognised, every parameter is
  // taken to be used once a sample.
  const double given = module_.module().forward_flops;
  const double least = 2.0 * static_cast<double>(params().size());
  modelled_seconds_ = 3 * (given > 0 ? given : std::max(counted, least)) / kReferenceCore;
}

// Two samples of zeros go through in evaluation mode, which changes nothing: what does not fit is
// found here and not in the midst of training. Gives the operations of a sample.
double ModuleReplica::try_out() {
  module_.module().set_training(false);
  const Batch blank = blank_batch(data_, 2);
  const torch::NoGradGuard no_grad;
  const auto counted = [&] { return count_flops([&] { scores_of(blank); }) / 2; };
  if (data_.kind != DataShape::Kind::kImage) return counted();
  try {
    return counted();
  } catch (const ConfigError&) {
    channels_last_ = false;  // modules that reshape by view() want torch's default layout
    return counted();
  }
}

PassResult ModuleReplica::forward_backward(const Batch& batch, float weight,
                                           const LayerReady& on_layer) {
  std::ranges::fill(grads(), 0.0f);
  std::ranges::fill(finished_, 0);
  on_layer_ = &on_layer;
  PassResult result;
  if (batch.size() > 0) result = differentiate(batch, weight);
  for (std::size_t i = 0; i < finished_.size(); ++i) {
    if (!finished_[i]) finish_layer(i);  // the loss did not depend on it
  }
  return result;
}

PassResult ModuleReplica::differentiate(const Batch& batch, float weight) {
  set_training(true);
  if (module_.module().draws_random_numbers) {
    const auto step = static_cast<std::uint64_t>(batch.step);
    torch::manual_seed(Random(seed_, "dropout", batch.ids.front(), step).next());
  }
  const auto scores = scores_of(batch);
  // Backward halts at the scores: there 16-bit numbers are rounded, on the way in and out.
  const auto boundary = scores.detach().clone();
  round_to(precision_, values_of(boundary));
  boundary.requires_grad_();
  const auto labels = label_view(batch);
  PassResult result;
  if (*on_layer_) (*on_layer_)(kForwardOver);
  try {
    auto loss = cross_entropy(boundary, labels, label_smoothing_);
    if (!batch.soft.probabilities.empty()) loss = loss + soft_cross_entropy(boundary, batch.soft);
    loss.backward(torch::full({}, may_overflow() ? weight * scale_.value() : weight));
    const auto gradient = boundary.grad();
    round_to(precision_, values_of(gradient));
    scores.backward(gradient);
    result = {loss.item<double>(), batch.labels.size(), count_correct(boundary, labels)};
  } catch (const c10::Error& error) {
    throw ConfigError("{} cannot be differentiated: {}", title(), short_reason(error));
  }
  module_.check_gradients();
  module_.keep_buffers_flat();
  return result;
}

void ModuleReplica::finish_layer(std::size_t index) {
  if (finished_[index]) {
    throw ConfigError(
        "{} differentiates {} several times in a pass (by checkpointing?); its "
        "gradient would be exchanged unfinished",
        title(), layers()[index].name);
  }
  finished_[index] = 1;
  if (precision_ != Precision::kFloat) {
    const auto gradient = grads().subspan(layers()[index].offset, layers()[index].size);
    round_to(precision_, gradient);
    const float scale = may_overflow() ? scale_.value() : 1.0f;
    for (float& value : gradient) value /= scale;
  }
  if (*on_layer_) (*on_layer_)(index);
}

PassResult ModuleReplica::evaluate(const Batch& batch) {
  if (batch.size() == 0) return {};
  set_training(false);
  const torch::NoGradGuard no_grad;
  const auto scores = scores_of(batch);
  const auto labels = label_view(batch);
  return {cross_entropy(scores, labels, 0).item<double>(), batch.labels.size(),
          count_correct(scores, labels)};
}

void ModuleReplica::predict(const Batch& batch, std::span<float> scores) {
  if (batch.size() == 0) return;
  set_training(false);
  const torch::NoGradGuard no_grad;
  const auto all = scores_of(batch).contiguous();
  LOCKSTEP_CHECK(static_cast<std::size_t>(all.numel()) == scores.size(), "room for {} of {} scores",
                 scores.size(), all.numel());
  std::ranges::copy(values_of(all), scores.begin());
}

torch::Tensor ModuleReplica::input_of(const Batch& batch) const {
  auto input = input_view(batch);
  if (data_.kind == DataShape::Kind::kTokens) return input;
  if (!channels_last_) input = input.contiguous();
  if (precision_ != Precision::kFloat) {
    input = input.clone();  // keeps the layout, dense either way
    round_to(precision_, values_of(input));
  }
  return input;
}

// {labels of the batch, classes}
torch::Tensor ModuleReplica::scores_of(const Batch& batch) const {
  torch::Tensor scores;
  try {
    scores = module_.module().forward(input_of(batch));
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw ConfigError("{} cannot compute a batch of {} samples of shape {}: {}", title(),
                      batch.size(), shape_text(data_.sample), short_reason(error));
  }
  const std::vector<std::int64_t> flat{static_cast<std::int64_t>(batch.labels.size()),
                                       data_.classes};
  std::vector<std::int64_t> wanted{static_cast<std::int64_t>(batch.size()), data_.classes};
  if (data_.kind == DataShape::Kind::kTokens) wanted.insert(wanted.begin() + 1, data_.sample[0]);
  if (!scores.defined() || scores.scalar_type() != torch::kFloat ||
      (scores.sizes() != wanted && scores.sizes() != flat)) {
    const std::string found =
        scores.defined()
            ? fmt::format("{} {}", c10::toString(scores.scalar_type()), shape_text(scores.sizes()))
            : "nothing";
    throw ConfigError(
        "{} gives {} for a batch of {}; needed: Float {}, a score for each of the "
        "{} classes",
        title(), found, batch.size(), shape_text(wanted), data_.classes);
  }
  return scores.reshape(flat);
}

void ModuleReplica::set_training(bool training) {
  if (training_ != training) module_.module().set_training(training);
  training_ = training;
}

void ModuleReplica::apply_update() {
  if (precision_ == Precision::kFloat) return;
  std::memcpy(module_.copies().data(), params().data(), params().size_bytes());
  round_to(precision_, module_.copies());
}

void ModuleReplica::state(StateVisitor& visitor) {
  if (may_overflow()) {
    StateScope scope(visitor, "loss_scale");
    scale_.state(scope);
  }
  module_.state(visitor);
}

void ModuleReplica::save(const std::string& path) {
  if (precision_ != Precision::kFloat) {  // what leaves are the float weights
    std::memcpy(module_.copies().data(), params().data(), params().size_bytes());
  }
  module_.module().save(path);
  apply_update();
}

std::vector<std::string> ModuleReplica::remarks() const {
  auto remarks = module_.module().remarks;
  if (precision_ != Precision::kFloat) {
    remarks.push_back(fmt::format(
        "{} is emulated: weights, input, scores and the gradients of scores and weights are "
        "rounded to it; what {} computes in between is in float",
        to_text(precision_), title()));
  }
  if (!channels_last_) {
    remarks.push_back(fmt::format(
        "{} does not take images channels-last (does it reshape by view()?): each batch is copied",
        title()));
  }
  return remarks;
}

}  // namespace lockstep
