#include "apps/explain_pipeline.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iostream>
#include <memory>

#include "lockstep/pipeline/slot_table.h"

namespace lockstep {
namespace {

struct Arguments {
  std::string schedule = "gpipe";
  int stages = 4, microbatches = 8, backward = 1;
};

void explain(const Arguments& arguments) {
  const auto schedule = Registry<PipelineSchedule>::instance().make(arguments.schedule);
  const int k = arguments.stages, m = arguments.microbatches;
  const std::vector<StageTimes> times(static_cast<std::size_t>(k),
                                      {1, static_cast<double>(arguments.backward), 0});
  const SlotTable table = slot_table(*schedule, m, times);
  std::cout << fmt::format(
      "pipeline {}, {} stage{}, {} micro-batch{}; forward takes 1 slot, backward {}\n\n{}\n",
      arguments.schedule, k, k == 1 ? "" : "s", m, m == 1 ? "" : "es", arguments.backward,
      to_text(table));
  std::cout << fmt::format("idle              {:.1f} % of all slots; (k-1)/(m+k-1) = {:.1f} %\n",
                           100 * table.idle_share(), 100 * ideal_idle_share(k, m));
  std::cout << fmt::format("length            {:.0f} slots; one worker alone takes {}\n",
                           table.makespan, k * m * (1 + arguments.backward));
  std::cout << fmt::format("peak activations  {} micro-batches, by stage\n",
                           fmt::join(table.peak_activations, ", "));
}

}  // namespace

void add_explain_pipeline(CLI::App& explain_app) {
  constexpr int kMostStages = 256, kMostMicrobatches = 4096;
  const auto arguments = std::make_shared<Arguments>();
  auto* command = explain_app.add_subcommand(
      "pipeline", "What every stage of a pipeline does when, and how long it idles");
  command->add_option("--schedule", arguments->schedule, "One of `lockstep list pipeline`")
      ->capture_default_str();
  command->add_option("--stages", arguments->stages, "Parts that the model is cut into")
      ->check(CLI::Range(1, kMostStages))
      ->capture_default_str();
  command->add_option("--microbatches", arguments->microbatches, "Parts of a minibatch")
      ->check(CLI::Range(1, kMostMicrobatches))
      ->capture_default_str();
  command->add_option("--backward", arguments->backward, "Slots of a backward; a forward takes one")
      ->check(CLI::Range(1, 10))
      ->capture_default_str();
  command->callback([arguments] { explain(*arguments); });
}

}  // namespace lockstep
