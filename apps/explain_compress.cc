#include "apps/explain_compress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>

#include "apps/component_options.h"
#include "lockstep/base/text.h"
#include "lockstep/compress/compression_plan.h"

namespace lockstep {
namespace {

constexpr const char* kExample = "0.1 0.15 -0.2 20 15.3 -1.222";
constexpr std::size_t kMost = 1024;
constexpr std::int64_t kMostSteps = 100;

struct Arguments {
  std::string compressor = "onebit";
  std::string input = kExample;
  std::string shape;
  std::int64_t steps = 2;
  std::int64_t seed = 1;
  std::vector<std::string> settings;
};

std::vector<float> parse_values(std::string text) {
  std::ranges::replace(text, ',', ' ');
  std::vector<float> values;
  for (const auto& word : split(text, ' ')) {
    if (!word.empty()) values.push_back(static_cast<float>(parse_real(word, "--input")));
  }
  if (values.empty()) throw ConfigError("--input is empty; write numbers such as \"0.1 -0.2 3\"");
  if (values.size() > kMost) {
    throw ConfigError("--input has {} numbers; at most {} can be shown", values.size(), kMost);
  }
  return values;
}

Layer layer_of(const std::string& shape, std::size_t size) {
  Layer layer{"input", 0, size, {}};
  std::size_t product = 1;
  for (const auto& text : split(shape, 'x')) {
    layer.shape.push_back(parse_integer(text, "--shape"));
    if (layer.shape.back() < 1) throw ConfigError("--shape: {} is less than 1", layer.shape.back());
    product *= static_cast<std::size_t>(layer.shape.back());
  }
  if (layer.shape.empty()) layer.shape = {static_cast<std::int64_t>(size)};
  if (!shape.empty() && product != size) {
    throw ConfigError("--shape {} has {} values, but --input {}", shape, product, size);
  }
  return layer;
}

std::string cell(float value) {
  return fmt::format("{:g}", value == 0 ? 0.0f : value);  // not −0
}

void explain(const Arguments& arguments) {
  const auto values = parse_values(arguments.input);
  const auto& registry = Registry<Compressor>::instance();
  Options own(compress_options(), "[compress]");
  own.set("plain_below", "0");
  const Options options = component_options(registry, arguments.compressor, arguments.settings);
  const CompressionPlan plan(arguments.compressor, options, own);
  const Layer layer = layer_of(arguments.shape, values.size());
  const auto compressor = plan.make({arguments.compressor, options, {layer}}, Feedback::kWorker);
  if (arguments.steps < 1 || arguments.steps > kMostSteps) {
    throw ConfigError("--steps: {} is not from 1 to {}", arguments.steps, kMostSteps);
  }

  std::cout << fmt::format("{}: {}\n", arguments.compressor,
                           registry.at(arguments.compressor).sentence);
  std::vector<float> held(values.size());
  for (std::int64_t step = 1; step <= arguments.steps; ++step) {
    Bytes message;
    const auto key = static_cast<std::uint64_t>(arguments.seed * kMostSteps + step);
    compressor->encode(values, {.epoch = 0, .key = key * 0x9e3779b97f4a7c15u}, message);
    std::vector<float> sent(values.size());
    compressor->add(message.view(), 1, sent);
    const auto residual = compressor->residual();
    std::vector<std::vector<std::string>> rows{{fmt::format("step {}", step)},
                                               {"gradient"},
                                               {"held back before"},
                                               {"sent"},
                                               {residual.empty() ? "lost" : "held back now"}};
    double error = 0, length = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const float before = held[i], after = residual.empty() ? values[i] - sent[i] : residual[i];
      rows[0].push_back(fmt::format("[{}]", i));
      rows[1].push_back(cell(values[i]));
      rows[2].push_back(cell(before));
      rows[3].push_back(cell(sent[i]));
      rows[4].push_back(cell(after));
      const double had = static_cast<double>(values[i]) + before;
      error += (had - sent[i]) * (had - sent[i]);
      length += had * had;
      held[i] = residual.empty() ? 0 : after;
    }
    if (residual.empty()) rows.erase(rows.begin() + 2);
    const std::size_t bits = 8 * message.size(), plain = 32 * values.size();
    std::cout << "\n"
              << format_table(rows)
              << fmt::format(
                     "{} bits instead of {}: {:.3g} times fewer, {:.3g} a value; {:.1f} % of the "
                     "length is missing\n",
                     bits, plain, static_cast<double>(plain) / static_cast<double>(bits),
                     static_cast<double>(bits) / static_cast<double>(values.size()),
                     length > 0 ? 100 * std::sqrt(error / length) : 0.0);
  }
}

}  // namespace

void add_explain_compress(CLI::App& explain_app) {
  const auto arguments = std::make_shared<Arguments>();
  auto* command = explain_app.add_subcommand(
      "compress", "What leaves of a vector, in how many bits, and what stays behind");
  command->add_option("--with", arguments->compressor, "One of `lockstep list compress`")
      ->capture_default_str();
  command->add_option("--input", arguments->input, "The values of a gradient")
      ->capture_default_str();
  command->add_option("--shape", arguments->shape,
                      "Its shape if it is a matrix (for powersgd), such as 2x3");
  command->add_option("--steps", arguments->steps, "How many times the same gradient is sent")
      ->capture_default_str();
  command->add_option("--seed", arguments->seed, "Of what is random (qsgd)")->capture_default_str();
  add_set_option(*command, arguments->settings);
  command->callback([arguments] { explain(*arguments); });
}

}  // namespace lockstep
