#include "lockstep/model/module_stage.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "lockstep/base/error.h"
#include "lockstep/base/random.h"
#include "lockstep/model/batch_tensors.h"
#include "lockstep/model/flop_count.h"
#include "lockstep/model/replica.h"
#include "lockstep/model/torch_error.h"

namespace lockstep {
namespace {

std::size_t values_in(const std::vector<std::int64_t>& shape) {
  std::size_t values = shape.empty() ? 0 : 1;
  for (const auto extent : shape) values *= static_cast<std::size_t>(extent);
  return values;
}

}  // namespace

void require_float(const ModelSettings& settings, const std::string& title) {
  if (settings.precision == "float") return;
  throw ConfigError("stages of {} compute in float: [train] precision = \"{}\" is not possible",
                    title, settings.precision);
}

ModuleStage::ModuleStage(ModulePart part, const ModelSettings& settings)
    : data_(settings.data),
      seed_(settings.seed),
      loss_{static_cast<std::size_t>(settings.data.classes), settings.label_smoothing},
      in_(std::move(part.in)),
      out_(std::move(part.out)),
      channels_last_(part.channels_last),
      module_(std::move(part.module), false, [this](std::size_t index) { finish_layer(index); }),
      slots_(1),
      finished_(layers().size()) {
  torch::set_num_threads(settings.threads);  // torch would take all cores, in every new thread
  require_float(settings, title());
  if (module_.has_batch_norm() && settings.batch_norm != "local") {
    throw ConfigError("{} has batch norm of its own: batch_norm = \"{}\" is not possible", title(),
                      settings.batch_norm);
  }
  module_.module().set_training(false);
  const torch::NoGradGuard no_grad;
  const Batch blank = blank_batch(data_, 2);
  const AlignedVector<float> zeros(2 * in_values());
  const double counted =
      count_flops([&] { run(entering(blank, zeros), blank); }) / static_cast<double>(blank.size());
  const double given = module_.module().forward_flops;
  const double least = 2.0 * static_cast<double>(params().size());
  modelled_seconds_ = 3 * (given > 0 ? given : std::max(counted, least)) / kReferenceCore;
}

std::size_t ModuleStage::in_values() const {
  return values_in(in_);
}
std::size_t ModuleStage::out_values() const {
  return values_in(out_);
}

void ModuleStage::set_training(bool training) {
  if (training_ != training) module_.module().set_training(training);
  training_ = training;
}

torch::Tensor ModuleStage::over(const std::vector<std::int64_t>& shape, const float* values,
                                std::size_t samples) const {
  std::vector<std::int64_t> sizes{static_cast<std::int64_t>(samples)};
  sizes.insert(sizes.end(), shape.begin(), shape.end());
  auto* const memory = const_cast<float*>(values);
  if (shape.size() != 3 || !channels_last_) return torch::from_blob(memory, sizes, torch::kFloat);
  const auto channels = shape[0], height = shape[1], width = shape[2];
  return torch::from_blob(memory, sizes, {channels * height * width, 1, channels * width, channels},
                          torch::kFloat);
}

torch::Tensor ModuleStage::entering(const Batch& batch, std::span<const float> in) const {
  if (!first()) return over(in_, in.data(), batch.size());
  const auto input = input_view(batch);
  return data_.kind == DataShape::Kind::kTokens || channels_last_ ? input : input.contiguous();
}

torch::Tensor ModuleStage::run(const torch::Tensor& in, const Batch& batch) const {
  try {
    return module_.module().forward(in);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw ConfigError("{} cannot compute {} samples: {}", title(), batch.size(),
                      short_reason(error));
  }
}

// {labels of the batch, classes}, in memory of its own.
torch::Tensor ModuleStage::scores_of(const torch::Tensor& out, const Batch& batch) const {
  const auto labels = static_cast<std::int64_t>(batch.labels.size());
  if (out.numel() != labels * data_.classes || out.scalar_type() != torch::kFloat) {
    throw ConfigError("{} gives {} for a batch of {}; needed: a score for each of the {} classes",
                      title(), shape_text(out.sizes()), batch.size(), data_.classes);
  }
  return out.detach().reshape({labels, data_.classes}).clone(torch::MemoryFormat::Contiguous);
}

void ModuleStage::leave(const torch::Tensor& tensor, std::span<float> to) const {
  const bool image = tensor.dim() == 4 && channels_last_;
  const auto dense = tensor.detach().contiguous(image ? torch::MemoryFormat::ChannelsLast
                                                      : torch::MemoryFormat::Contiguous);
  LOCKSTEP_CHECK(static_cast<std::size_t>(dense.numel()) == to.size(), "room for {} of {} values",
                 to.size(), dense.numel());
  std::memcpy(to.data(), dense.data_ptr<float>(), to.size_bytes());
}

PassResult ModuleStage::forward(const MicroBatch& micro, std::span<const float> in,
                                std::span<float> out) {
  set_training(true);
  const Batch& batch = micro.batch;
  if (module_.module().draws_random_numbers) {
    const auto step = static_cast<std::uint64_t>(batch.step);
    const std::string purpose = "dropout " + layers().front().name;  // stages draw different ones
    torch::manual_seed(Random(seed_, purpose, batch.ids.front(), step).next());
  }
  Slot& slot = slots_[micro.slot];
  slot.in = entering(batch, in);
  if (!first()) slot.in.requires_grad_();
  slot.out = run(slot.in, batch);
  module_.keep_buffers_flat();
  if (!last()) {
    leave(slot.out, out);
    return {};
  }
  slot.gradient = scores_of(slot.out, batch);
  const std::span values(slot.gradient.data_ptr<float>(),
                         static_cast<std::size_t>(slot.gradient.numel()));
  const auto sum = loss_.run(values, batch.labels, micro.scale, values);
  return {sum.loss / static_cast<double>(batch.labels.size()), batch.labels.size(), sum.correct};
}

void ModuleStage::backward(const MicroBatch& micro, std::span<float> out, std::span<float> in,
                           const LayerReady& on_layer) {
  if (!micro.adds) std::ranges::fill(grads(), 0.0f);
  std::ranges::fill(finished_, 0);
  on_layer_ = &on_layer;
  Slot slot = std::exchange(slots_[micro.slot], {});
  const auto gradient =
      last() ? slot.gradient.reshape(slot.out.sizes()) : over(out_, out.data(), micro.batch.size());
  try {
    slot.out.backward(gradient);
  } catch (const c10::Error& error) {
    throw ConfigError("{} cannot be differentiated: {}", title(), short_reason(error));
  }
  module_.check_gradients();
  for (std::size_t i = 0; i < finished_.size(); ++i) {
    if (!finished_[i]) finish_layer(i);  // the loss did not depend on it
  }
  if (first()) return;
  if (slot.in.grad().defined()) return leave(slot.in.grad(), in);
  std::ranges::fill(in, 0.0f);
}

void ModuleStage::finish_layer(std::size_t index) {
  if (finished_[index]) {
    throw ConfigError("{} differentiates {} several times in a pass (by checkpointing?)", title(),
                      layers()[index].name);
  }
  finished_[index] = 1;
  if (*on_layer_) (*on_layer_)(index);
}

PassResult ModuleStage::evaluate(const Batch& batch, std::span<const float> in,
                                 std::span<float> out) {
  set_training(false);
  const torch::NoGradGuard no_grad;
  const auto result = run(entering(batch, in), batch);
  if (!last()) {
    leave(result, out);
    return {};
  }
  const auto scores = scores_of(result, batch);
  const std::span values(scores.data_ptr<float>(), static_cast<std::size_t>(scores.numel()));
  const auto sum = SoftmaxLoss{loss_.classes}.run(values, batch.labels, 1, {});
  return {sum.loss / static_cast<double>(batch.labels.size()), batch.labels.size(), sum.correct};
}

}  // namespace lockstep
