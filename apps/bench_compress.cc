#include "apps/bench_compress.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <iostream>
#include <memory>

#include "apps/component_options.h"
#include "lockstep/base/aligned.h"
#include "lockstep/base/json_lines.h"
#include "lockstep/base/progress.h"
#include "lockstep/base/random.h"
#include "lockstep/base/text.h"
#include "lockstep/collective/measure.h"
#include "lockstep/compress/error_feedback.h"
#include "lockstep/transport/waiter.h"

namespace lockstep {
namespace {

struct Arguments {
  std::string compressor = "all";
  std::string sizes = "256K,4M,40M";
  bool feedback = false;
  double budget = 0.5;
  bool json = false;
  std::vector<std::string> settings;
};

struct Result {
  std::string name;
  std::size_t bytes = 0;
  double encode = 0, decode = 0;  // seconds, medians
  double ratio = 0;
  double error = 0;  // relative
  // Sending S bytes takes S/B on a link of B bytes a second; compressed, S/(ratio·B) and the
  // seconds of both. They are equal here; it pays below.
  double break_even() const {
    return static_cast<double>(bytes) * (1 - 1 / ratio) / (encode + decode);
  }
  double rate(double seconds) const { return static_cast<double>(bytes) / seconds / 1e9; }
};

// A layer as large layers are: a matrix, not of low rank.
Layer layer_of(std::size_t floats) {
  std::size_t rows = 1;
  while (rows * rows * 4 <= floats) rows *= 2;
  while (floats % rows != 0) rows /= 2;
  return {.name = "gradient",
          .size = floats,
          .shape = {static_cast<std::int64_t>(rows), static_cast<std::int64_t>(floats / rows)}};
}

Result measure(const std::string& name, const Options& options, std::size_t bytes,
               const Arguments& arguments) {
  const std::size_t n = bytes / sizeof(float);
  auto compressor = Registry<Compressor>::instance().make(name, options);
  if (arguments.feedback && !compressor->lossless()) {
    compressor = std::make_unique<ErrorFeedback>(std::move(compressor));
  }
  const Layer layer = layer_of(n);
  compressor->prepare(std::span(&layer, 1));
  AlignedVector<float> values(n), sum(n);
  Random random(1, "bench compress");
  for (float& value : values) value = static_cast<float>(random.normal() * 1e-3);

  Bytes message;
  std::vector<double> encode, decode;
  for (double spent = 0; encode.size() < 3 || (spent < arguments.budget && encode.size() < 500);) {
    message.clear();
    const double began = wall_seconds();
    compressor->encode(values, {.epoch = 0, .key = encode.size()}, message);
    const double encoded = wall_seconds();
    compressor->add(message.view(), 0.5f, sum);
    const double decoded = wall_seconds();
    encode.push_back(encoded - began);
    decode.push_back(decoded - encoded);
    spent += decoded - began;
  }
  std::ranges::fill(sum, 0.0f);
  compressor->add(message.view(), 1, sum);
  double error = 0, length = 0;
  for (std::size_t i = 0; i < n; ++i) {
    error += std::pow(static_cast<double>(values[i]) - sum[i], 2);
    length += std::pow(static_cast<double>(values[i]), 2);
  }
  return {name,
          bytes,
          summarise(encode).median,
          summarise(decode).median,
          static_cast<double>(bytes) / static_cast<double>(message.size()),
          std::sqrt(error / length)};
}

Json to_json(const Result& result) {
  return {{"compressor", result.name},
          {"bytes", result.bytes},
          {"encode_seconds", result.encode},
          {"decode_seconds", result.decode},
          {"ratio", result.ratio},
          {"relative_error", result.error},
          {"break_even_bits_per_second", 8 * result.break_even()}};
}

std::vector<std::string> row_of(const Result& result) {
  return {
      result.name,
      format_size(result.bytes),
      fmt::format("{:.2f}", result.rate(result.encode)),
      fmt::format("{:.2f}", result.rate(result.decode)),
      fmt::format("{:.2f}", result.rate(result.encode + result.decode)),
      fmt::format("{:.1f}", result.ratio),
      fmt::format("{:.3g}", result.error),
      result.ratio > 1.001 ? fmt::format("{:.0f} Mbit/s", 8e-6 * result.break_even()) : "never"};
}

void bench(const Arguments& arguments) {
  const auto& registry = Registry<Compressor>::instance();
  const auto names =
      arguments.compressor == "all" ? registry.names() : split(arguments.compressor, ',');
  if (names.size() != 1 && !arguments.settings.empty()) {
    throw ConfigError("--set is for one compressor; choose it with --with");
  }
  if (names.empty()) throw ConfigError("--with is empty; write all, or names");
  std::vector<std::pair<std::string, Options>> chosen;
  for (const auto& name : names) {
    chosen.emplace_back(name, component_options(registry, name, arguments.settings));
  }
  std::vector<std::size_t> sizes;
  for (const auto& text : split(arguments.sizes, ',')) {
    sizes.push_back(parse_size(text, "--sizes") / 4096 * 4096);
    if (sizes.back() == 0) throw ConfigError("--sizes: {} is less than 4096 bytes", text);
  }
  if (sizes.empty()) throw ConfigError("--sizes is empty; write sizes such as 256K,40M");

  const bool quiet = arguments.json && stdout_is_terminal();
  Progress progress("measuring", quiet ? 0 : chosen.size() * sizes.size());
  JsonLines lines(std::cout);
  std::vector<std::vector<std::string>> rows{{"compressor", "size", "encode GB/s", "decode GB/s",
                                              "both GB/s", "ratio", "error", "pays below"}};
  std::uint64_t done = 0;
  for (const auto& [name, options] : chosen) {
    for (const std::size_t bytes : sizes) {
      if (!quiet) progress.update(done, wall_seconds(), name);
      const Result result = measure(name, options, bytes, arguments);
      ++done;
      rows.push_back(row_of(result));
      if (arguments.json) lines.write(to_json(result));
    }
  }
  if (!quiet) progress.update(done, wall_seconds());
  if (!arguments.json) {
    std::cout << "\n"
              << format_table(rows)
              << "\nGB/s of floats, one core, medians; normal values. It pays on links slower than "
                 "shown, if\nneither computing nor anything else hides what is sent.\n";
  }
}

}  // namespace

void add_bench_compress(CLI::App& bench_app) {
  const auto arguments = std::make_shared<Arguments>();
  auto* command = bench_app.add_subcommand(
      "compress", "Time the compressors, and tell on which links they pay");
  command
      ->add_option("--with", arguments->compressor,
                   "all, or names of `lockstep list compress` separated by commas")
      ->capture_default_str();
  command->add_option("--sizes", arguments->sizes, "Bytes of the vector, such as 256K,40M")
      ->capture_default_str();
  command->add_flag("--feedback", arguments->feedback, "With error feedback");
  command->add_option("--budget", arguments->budget, "Seconds for each compressor and size")
      ->capture_default_str();
  command->add_flag("--json", arguments->json, "One JSON object a line instead of a table");
  add_set_option(*command, arguments->settings);
  command->callback([arguments] { bench(*arguments); });
}

}  // namespace lockstep
