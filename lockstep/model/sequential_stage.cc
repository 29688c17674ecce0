#include "lockstep/model/sequential_stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "lockstep/base/error.h"
#include "lockstep/model/batch_tensors.h"
#include "lockstep/model/flop_count.h"
#include "lockstep/model/torch_error.h"
#include "lockstep/model/user_module.h"

namespace lockstep::detail {
namespace {

// Children first … last − 1: one that learns, with those behind it that do not.
struct Unit {
  ModelUnit unit;
  std::size_t first = 0, last = 0;
  std::vector<std::int64_t> out;  // shape of a sample that it hands on
};

std::size_t trained_values(const torch::nn::Module& module) {
  std::int64_t values = 0;
  for (const auto& tensor : module.parameters()) {
    if (tensor.requires_grad()) values += tensor.numel();
  }
  return static_cast<std::size_t>(values);
}

std::size_t float_buffers(const torch::nn::Module& module) {
  std::int64_t values = 0;
  for (const auto& tensor : module.buffers()) {
    if (tensor.defined() && tensor.scalar_type() == torch::kFloat) values += tensor.numel();
  }
  return static_cast<std::size_t>(values);
}

std::vector<Unit> units_of(torch::nn::SequentialImpl& whole) {
  std::vector<Unit> units(1);
  std::set<const void*> seen;
  std::size_t place = 0;
  for (const auto& child : whole.named_children()) {
    const std::size_t params = trained_values(*child.value());
    for (const auto& tensor : child.value()->parameters()) {
      if (!seen.insert(tensor.unsafeGetTensorImpl()).second) {
        throw ConfigError("the module {} cannot be cut: its children share parameters",
                          whole.name());
      }
    }
    if (params > 0 && units.back().unit.params > 0) units.push_back({{}, place, place, {}});
    Unit& unit = units.back();
    if (params > 0) unit.unit.name = child.key();
    unit.unit.params += params;
    unit.unit.buffers += float_buffers(*child.value());
    unit.last = ++place;
  }
  return units;
}

// Two samples of zeros go through, which shows what comes out behind each unit.
void try_out(torch::nn::SequentialImpl& whole, const DataShape& data, bool channels_last,
             std::vector<Unit>& units) {
  const Batch blank = blank_batch(data, 2);
  auto x = input_view(blank);
  if (!channels_last) x = x.contiguous();
  const torch::NoGradGuard no_grad;
  whole.eval();
  for (Unit& unit : units) {
    unit.unit.kept_values = 0;
    double flops = 0;
    for (std::size_t i = unit.first; i < unit.last; ++i) {
      auto& child = *(whole.begin() + static_cast<std::ptrdiff_t>(i));
      flops += count_flops([&] { x = child.forward(x); }) / 2;
      unit.unit.kept_values += static_cast<std::size_t>(x.numel() / 2);
    }
    if (x.dim() == 0 || x.size(0) != 2) {
      throw ConfigError("the module {} cannot be cut behind {}: samples are not rows there",
                        whole.name(), unit.unit.name);
    }
    unit.out.assign(x.sizes().begin() + 1, x.sizes().end());
    unit.unit.out_values = static_cast<std::size_t>(x.numel() / 2);
    unit.unit.forward_seconds =
        std::max(flops, 2.0 * static_cast<double>(unit.unit.params)) / kReferenceCore;
    if (x.dim() == 4 && channels_last) x = x.contiguous(torch::MemoryFormat::ChannelsLast);
  }
}

// With images channels-last, if the children take them so. Says whether they do.
bool describe(torch::nn::SequentialImpl& whole, const DataShape& data, std::vector<Unit>& units) {
  units = units_of(whole);
  if (units.back().unit.params == 0) {
    throw ConfigError("the module {} has nothing to train", whole.name());
  }
  try {
    try_out(whole, data, true, units);
    return true;
  } catch (const ConfigError&) {
    throw;
  } catch (const std::exception&) {  // perhaps they reshape by view(); then torch's default layout
  }
  try {
    try_out(whole, data, false, units);
  } catch (const std::exception& error) {
    throw ConfigError("the module {} cannot compute samples of shape {}: {}", whole.name(),
                      shape_text(data.sample), short_reason(error));
  }
  return false;
}

}  // namespace

std::vector<ModelUnit> sequential_units(torch::nn::SequentialImpl& whole,
                                        const ModelSettings& settings) {
  require_float(settings, "the module " + whole.name());
  std::vector<Unit> units;
  describe(whole, settings.data, units);
  std::vector<ModelUnit> all;
  for (Unit& unit : units) all.push_back(std::move(unit.unit));
  return all;
}

std::unique_ptr<Stage> sequential_stage(torch::nn::SequentialImpl& whole,
                                        const ModelSettings& settings, Range range) {
  std::vector<Unit> units;
  const bool channels_last = describe(whole, settings.data, units);
  LOCKSTEP_CHECK(range.size > 0 && range.end() <= units.size(), "units {} to {} of {}", range.begin,
                 range.end(), units.size());
  const auto kept = std::make_shared<torch::nn::SequentialImpl>();
  const auto names = whole.named_children().keys();
  for (std::size_t i = units[range.begin].first; i < units[range.end() - 1].last; ++i) {
    kept->push_back(names[i], *(whole.begin() + static_cast<std::ptrdiff_t>(i)));
  }
  ModulePart part{trainable(kept), {}, {}, channels_last};
  // Dropout draws from torch's generator. A child of the user's own might, too.
  part.module.draws_random_numbers =
      std::ranges::any_of(kept->modules(), [](const std::shared_ptr<torch::nn::Module>& module) {
        return module->name().find("Dropout") != std::string::npos;
      });
  part.module.forward = [kept](const torch::Tensor& x) { return kept->forward(x); };
  if (range.begin > 0) part.in = units[range.begin - 1].out;
  if (range.end() < units.size()) part.out = units[range.end() - 1].out;
  return std::make_unique<ModuleStage>(std::move(part), settings);
}

}  // namespace lockstep::detail
