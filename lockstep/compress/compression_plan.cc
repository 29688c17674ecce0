#include "lockstep/compress/compression_plan.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "lockstep/base/text.h"
#include "lockstep/compress/error_feedback.h"
#include "lockstep/compress/momentum_correction.h"

namespace lockstep {
namespace {

// Kinds and shapes, which patterns may name; kinds go before shapes.
constexpr std::array<std::string_view, 5> kClasses{"weight", "bias", "norm", "matrix", "vector"};

bool is_class(std::string_view pattern) {
  return std::ranges::find(kClasses, pattern) != kClasses.end();
}

bool in_class(const Layer& layer, std::string_view name) {
  if (name == "weight") return layer.kind == LayerKind::kWeight;
  if (name == "bias") return layer.kind == LayerKind::kBias;
  if (name == "norm") return layer.kind == LayerKind::kNorm;
  return (name == "matrix") == (layer.shape.size() >= 2);
}

// '*' stands for any text.
bool matches(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern.front() == '*') {
    for (std::size_t skip = 0; skip <= text.size(); ++skip) {
      if (matches(pattern.substr(1), text.substr(skip))) return true;
    }
    return false;
  }
  return !text.empty() && text.front() == pattern.front() &&
         matches(pattern.substr(1), text.substr(1));
}

bool applies(const std::string& pattern, const Layer& layer) {
  return is_class(pattern) ? in_class(layer, pattern) : matches(pattern, layer.name);
}

// Of the momentum correction; 0: none.
double momentum_of(const std::string& compressor, const Options& options) {
  return compressor == "topk" ? options.real("momentum") : 0;
}

// "key = value" in two parts; also with what `--set` leaves of {"key" = "value"}.
std::pair<std::string, std::string> key_and_value(std::string entry, const char* option) {
  std::erase_if(entry, [](char c) { return c == '{' || c == '}' || c == '"'; });
  const std::size_t at = entry.find('=');
  if (at == std::string::npos) {
    throw ConfigError("[compress] {} has \"{}\"; write key = compressor", option, entry);
  }
  return {trim(entry.substr(0, at)), trim(entry.substr(at + 1))};
}

}  // namespace

CompressionPlan::CompressionPlan(const std::string& compressor, const Options& options,
                                 const Options& own)
    : plain_below_(static_cast<std::size_t>(own.integer("plain_below"))),
      feedback_(own.text("error_feedback")),
      plain_{"none", Registry<Compressor>::instance().options("none")} {
  const std::string& combine = own.text("combine");
  if (combine != "auto") combining_ = combine == "gather" ? Combining::kGather : Combining::kOwner;
  const double from_epoch = own.real("from_epoch");
  if (from_epoch > 0) phases_.push_back({0, plain_, true});
  phases_.push_back({from_epoch, {compressor, options}});
  for (const std::string& entry : own.texts("schedule")) {
    const auto [epoch, text] = key_and_value(entry, "schedule");
    phases_.push_back({parse_real(epoch, "[compress] schedule"), parse(text, "schedule")});
  }
  check_phases();
  for (const std::string& entry : own.texts("rules")) {
    const auto [pattern, text] = key_and_value(entry, "rules");
    rules_.push_back({pattern, parse(text, "rules")});
  }
  // Names before kinds before shapes; long names before short ones.
  const auto weight = [](const Rule& rule) {
    const auto at = std::ranges::find(kClasses, rule.pattern) - kClasses.begin();
    return std::pair(is_class(rule.pattern) ? (at < 3 ? 1 : 2) : 0,
                     -static_cast<std::ptrdiff_t>(rule.pattern.size()));
  };
  std::ranges::stable_sort(rules_, {}, weight);
  if (momentum() > 0 && (phases_.size() > 1 || feedback_ == "off")) {
    throw ConfigError(
        "[compress] momentum corrects what waits in the residual all the time; it goes neither "
        "with from_epoch or a schedule nor with error_feedback = \"off\"");
  }
  // What a compressor has to say against its options it says now.
  for (const Choice* choice : all()) {
    Registry<Compressor>::instance().make(choice->name, choice->options);
  }
}

void CompressionPlan::check_phases() {
  std::ranges::stable_sort(phases_, {}, &Phase::from_epoch);
  if (phases_.front().from_epoch < 0) throw ConfigError("[compress] schedule: epochs begin with 0");
  // The schedule may say something else than the section for the beginning.
  if (phases_.size() > 1 && phases_[1].from_epoch == 0) phases_.erase(phases_.begin());
  for (std::size_t i = 1; i < phases_.size(); ++i) {
    if (phases_[i].from_epoch == phases_[i - 1].from_epoch) {
      throw ConfigError("[compress] two compressors begin with epoch {}", phases_[i].from_epoch);
    }
  }
  if (phases_.size() > 255) throw ConfigError("[compress] schedule has more than 255 entries");
}

// "topk" or "topk(ratio=0.001; scope=layer)". Without options: those of [compress], if it names the
// same, else the defaults.
CompressionPlan::Choice CompressionPlan::parse(const std::string& text,
                                               const std::string& where) const {
  const std::size_t open = text.find('(');
  const std::string name = trim(text.substr(0, open));
  const auto& registry = Registry<Compressor>::instance();
  if (open == std::string::npos) {
    for (const Phase& phase : phases_) {
      if (phase.choice.name == name) return phase.choice;
    }
    return {name, registry.options(name)};
  }
  if (text.back() != ')') {
    throw ConfigError("[compress] {}: \"{}\" has no closing parenthesis", where, text);
  }
  Choice choice{name, registry.options(name)};
  std::string settings = text.substr(open + 1, text.size() - open - 2);
  std::ranges::replace(settings, ',', ';');  // which `--set` takes for the end of an entry
  for (const auto& setting : split(settings, ';')) {
    const auto [key, value] = key_and_value(setting, where.c_str());
    choice.options.set(key, value);
  }
  return choice;
}

std::vector<const CompressionPlan::Choice*> CompressionPlan::all() const {
  std::vector<const Choice*> choices;
  for (const Phase& phase : phases_) choices.push_back(&phase.choice);
  for (const Rule& rule : rules_) choices.push_back(&rule.choice);
  return choices;
}

bool CompressionPlan::compresses() const {
  return std::ranges::any_of(all(), [](const Choice* choice) { return choice->name != "none"; });
}

std::size_t CompressionPlan::phase_at(double epoch) const {
  std::size_t phase = 0;
  while (phase + 1 < phases_.size() && epoch >= phases_[phase + 1].from_epoch) ++phase;
  return phase;
}

const CompressionPlan::Choice& CompressionPlan::choice_for(const Layer& layer,
                                                           const Choice& otherwise) const {
  if (layer.size * sizeof(float) < plain_below_) return plain_;
  for (const Rule& rule : rules_) {
    if (applies(rule.pattern, layer)) return rule.choice;
  }
  return otherwise;
}

std::vector<CompressionPlan::Lane> CompressionPlan::lanes(std::size_t phase,
                                                          std::span<const Layer> layers) const {
  const Choice& main = phases_[phase].choice;
  std::vector<Lane> lanes;
  std::vector<const Choice*> used;
  for (const Layer& layer : layers) {
    const Choice& choice = phases_[phase].waits ? plain_ : choice_for(layer, main);
    const auto at = std::ranges::find(used, &choice) - used.begin();
    if (at == std::ssize(used)) {
      used.push_back(&choice);
      lanes.push_back({choice.name, choice.options, {}});
    }
    lanes[static_cast<std::size_t>(at)].layers.push_back(layer);
  }
  return lanes;
}

void CompressionPlan::check_rules(std::span<const Layer> layers) const {
  for (const Rule& rule : rules_) {
    if (is_class(rule.pattern)) continue;
    const auto applies_to = [&](const Layer& layer) { return applies(rule.pattern, layer); };
    if (std::ranges::none_of(layers, applies_to)) {
      throw ConfigError(
          "[compress] rules name \"{}\", but no layer of the model has such a name, which begin "
          "with \"{}\"; kinds are weight, bias, norm, matrix and vector",
          rule.pattern, layers.empty() ? "" : layers.front().name);
    }
  }
}

std::unique_ptr<Compressor> CompressionPlan::make(const Lane& lane, Feedback feedback) const {
  auto compressor = Registry<Compressor>::instance().make(lane.name, lane.options);
  const bool wished = feedback_ == "on" || (feedback_ == "auto" && compressor->biased());
  if (feedback == Feedback::kWorker && momentum_of(lane.name, lane.options) > 0) {
    compressor = with_momentum_correction(lane.options, std::move(compressor));
  } else if (feedback != Feedback::kNone && wished && !compressor->lossless()) {
    compressor = std::make_unique<ErrorFeedback>(std::move(compressor));
  }
  compressor->prepare(lane.layers);
  return compressor;
}

double CompressionPlan::momentum() const {
  double most = 0;
  for (const Choice* choice : all()) {
    most = std::max(most, momentum_of(choice->name, choice->options));
  }
  return most;
}

bool CompressionPlan::nearly_exact() const {
  return std::ranges::all_of(all(), [](const Choice* choice) {
    return Registry<Compressor>::instance().make(choice->name, choice->options)->nearly_exact();
  });
}

bool CompressionPlan::whole_layers() const {
  return std::ranges::any_of(all(), [](const Choice* choice) {
    return Registry<Compressor>::instance().make(choice->name, choice->options)->whole_layers();
  });
}

std::string CompressionPlan::names() const {
  std::string names;
  for (const Phase& phase : phases_) {
    if (!names.empty()) names += ", then ";
    names += phase.choice.name;
  }
  return names;
}

OptionSet compress_options() {
  OptionSet options;
  options
      .text("error_feedback", "auto",
            "add what was not sent to the next message; auto: where the compressor is biased")
      .one_of({"auto", "on", "off"});
  options.integer("plain_below", 1024, "layers of fewer bytes are sent as they are").at_least(0);
  options.real("from_epoch", 0, "nothing is compressed before this epoch").at_least(0);
  options.texts("schedule", {},
                "other compressors from some epochs on: {2 = \"fp16\", 10 = \"topk(ratio=0.01)\"}");
  options.texts("rules", {},
                "compressors of some layers, by weight, bias, norm, matrix, vector or name: {bias "
                "= \"none\", \"fc*\" = \"powersgd(rank=4)\"}");
  options
      .text("combine", "auto",
            "of messages that do not add up: gathered by everybody, or added and compressed again "
            "by the owner of a chunk; auto: whichever sends less")
      .one_of({"auto", "gather", "owner"});
  return options;
}

}  // namespace lockstep
