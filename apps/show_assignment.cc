#include "apps/show_assignment.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <numeric>

#include "apps/assignment_picture.h"
#include "apps/component_options.h"
#include "lockstep/assign/sampling.h"
#include "lockstep/base/json_lines.h"
#include "lockstep/base/text.h"
#include "lockstep/data/dataset.h"

namespace lockstep {
namespace {

constexpr int kColumns = 64;
constexpr std::size_t kMostLines = 64;  // workers drawn
constexpr int kMostWorkers = 4096;
constexpr std::int64_t kMostSamples = 100'000'000;
constexpr std::int64_t kClasses = 10;  // of samples that belong to no data set

struct Arguments {
  int workers = 4;
  int households = 1;
  int neighbourhoods = 1;
  std::string assignment = "disjoint";
  std::string copies;
  std::string data;
  std::int64_t samples = 50'000;
  std::uint64_t seed = 1;
  std::string across = "holders";
  std::vector<std::string> settings;
  bool json = false;
};

// A label for each of the samples to be shared out: those for training of a data set, or made up.
std::vector<std::int64_t> labels_of(const Arguments& arguments) {
  std::vector<std::int64_t> labels;
  if (!arguments.data.empty()) {
    const auto dataset = Registry<DatasetSource>::instance().make(arguments.data)->load();
    const std::size_t usable = std::min(dataset->samples, dataset->first_test);
    labels = dataset->labels;
    labels.resize(usable);
    return labels;
  }
  if (arguments.samples < 1 || arguments.samples > kMostSamples) {
    throw ConfigError("--samples {}: there must be 1 to {}", arguments.samples, kMostSamples);
  }
  for (std::int64_t i = 0; i < arguments.samples; ++i) labels.push_back(i % kClasses);
  return labels;
}

struct Summary {
  std::size_t least = 0, most = 0;
  double mean = 0;
};

Summary summary_of(const std::vector<std::size_t>& values) {
  if (values.empty()) return {};
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  return {*least, *most, sum / static_cast<double>(values.size())};
}

std::string text_of(const Summary& s) {
  return s.least == s.most ? fmt::format("{}", s.least)
                           : fmt::format("{} to {}, mean {:.1f}", s.least, s.most, s.mean);
}

void show(const Arguments& arguments) {
  auto settings = arguments.settings;
  if (!arguments.copies.empty()) settings.push_back("copies=" + arguments.copies);
  const auto& registry = Registry<Assignment>::instance();
  const Options options = component_options(registry, arguments.assignment, settings);
  const auto assignment = registry.make(arguments.assignment, options);
  const Sampling sampling = Sampling::from(options);
  if (arguments.workers > kMostWorkers) {
    throw ConfigError("--workers {}: at most {} can be shown", arguments.workers, kMostWorkers);
  }
  const std::vector<std::string> ways{"holders", "sample", "label"};
  const auto way = std::find(ways.begin(), ways.end(), arguments.across);
  if (way == ways.end()) {
    throw ConfigError("--across: {}", unknown_name("order", arguments.across, ways));
  }
  const Across across = *way == "holders"  ? Across::kHolders
                        : *way == "sample" ? Across::kSample
                                           : Across::kLabel;

  const auto labels = labels_of(arguments);
  std::vector<SampleId> samples(labels.size());
  std::iota(samples.begin(), samples.end(), SampleId{0});
  const Layout layout{arguments.workers, arguments.households, arguments.neighbourhoods};
  const Shards shards =
      assignment->assign({samples, labels}, layout, sampling.shuffled(), arguments.seed);
  const double copies = assignment->copies(layout);

  const Intersections common = intersections(shards, samples.size());
  std::vector<std::size_t> sizes, pairs;
  for (std::size_t a = 0; a < common.size(); ++a) {
    sizes.push_back(common[a][a]);
    for (std::size_t b = 0; b < a; ++b) pairs.push_back(common[a][b]);
  }
  if (arguments.json) {
    const Summary pair = summary_of(pairs);
    JsonLines(std::cout).write(
        {{"assignment", arguments.assignment},
         {"workers", arguments.workers},
         {"samples", samples.size()},
         {"copies", copies},
         {"shard_sizes", sizes},
         {"pairwise", {{"min", pair.least}, {"mean", pair.mean}, {"max", pair.most}}},
         {"intersections", common}});
    return;
  }
  std::cout << fmt::format("{}: {} samples on {} worker{}, each sample on {:g}\n\n",
                           arguments.assignment, samples.size(), arguments.workers,
                           arguments.workers == 1 ? "" : "s", copies);
  const auto lines = draw_shards(shards, labels, across, kColumns);
  for (std::size_t w = 0; w < lines.size() && w < kMostLines; ++w) {
    std::cout << fmt::format("{:>6} |{}| {}\n", w, lines[w], sizes[w]);
  }
  if (lines.size() > kMostLines) {
    std::cout << fmt::format("        … and {} more\n", lines.size() - kMostLines);
  }
  std::cout << fmt::format("\nsamples a worker        {}\n", text_of(summary_of(sizes)));
  if (!pairs.empty()) {
    std::cout << fmt::format("in common by two        {}\n", text_of(summary_of(pairs)));
  }
}

}  // namespace

void add_show_assignment(CLI::App& data) {
  const auto arguments = std::make_shared<Arguments>();
  auto* command = data.add_subcommand("show-assignment", "Draw which worker has which samples");
  command->add_option("--workers", arguments->workers, "How many workers")->capture_default_str();
  command->add_option("--assign", arguments->assignment, "One of `lockstep list assign`")
      ->capture_default_str();
  command->add_option("--copies", arguments->copies, "The same as --set copies=…");
  command->add_option("--households", arguments->households, "Groups of workers")
      ->capture_default_str();
  command->add_option("--neighbourhoods", arguments->neighbourhoods, "Groups of households")
      ->capture_default_str();
  auto* samples = command->add_option("--samples", arguments->samples, "How many samples")
                      ->capture_default_str();
  command
      ->add_option("--data", arguments->data,
                   "The samples of a data set instead: one of `lockstep list data`")
      ->excludes(samples);
  command->add_option("--seed", arguments->seed, "What shuffles the samples")
      ->capture_default_str();
  command
      ->add_option("--across", arguments->across,
                   "What stands from left to right: samples that are on the same workers together "
                   "(holders), by number (sample) or by class (label)")
      ->capture_default_str();
  add_set_option(*command, arguments->settings);
  command->add_flag("--json", arguments->json, "One JSON object, with all intersections");
  command->callback([arguments] { show(*arguments); });
}

}  // namespace lockstep
