#include "apps/explain_all_reduce.h"

#include <fmt/format.h>

#include <cmath>
#include <iostream>
#include <memory>

#include "apps/all_reduce_trace.h"
#include "apps/component_options.h"
#include "lockstep/base/progress.h"
#include "lockstep/base/text.h"

namespace lockstep {
namespace {

constexpr const char* kExample = "17 11 1 9; 5 13 23 14; 3 6 10 8; 12 7 2 12";
constexpr int kMostRanks = 64;
constexpr std::size_t kMostShown = 8;  // values in a line about a message

struct Arguments {
  std::string algorithm = "ring";
  std::string op = "max";
  std::string input;
  std::vector<std::string> settings;
};

std::vector<Values> parse_rows(const std::string& text) {
  std::vector<Values> rows;
  for (const auto& piece : split(text, ';')) {
    Values row;
    std::string spaced = piece;
    std::replace(spaced.begin(), spaced.end(), ',', ' ');
    for (const auto& word : split(spaced, ' ')) {
      if (!word.empty()) row.push_back(static_cast<float>(parse_real(word, "--input")));
    }
    rows.push_back(std::move(row));
  }
  if (rows.size() > 1 && rows.back().empty()) rows.pop_back();  // a semicolon behind the last row
  if (rows.empty() || rows[0].empty()) {
    throw ConfigError("--input is empty; write one row of numbers a rank: \"1 2; 3 4\"");
  }
  for (std::size_t r = 1; r < rows.size(); ++r) {
    if (rows[r].size() != rows[0].size()) {
      throw ConfigError("--input: row {} has {} number{} and row 1 has {}; all ranks need as many",
                        r + 1, rows[r].size(), rows[r].size() == 1 ? "" : "s", rows[0].size());
    }
  }
  if (rows.size() > kMostRanks) {
    throw ConfigError("--input has {} rows; at most {} can be shown", rows.size(), kMostRanks);
  }
  return rows;
}

std::string name_of(int rank, std::size_t ranks) {
  return ranks <= 26 ? std::string(1, static_cast<char>('A' + rank)) : fmt::format("{}", rank);
}

std::string values_text(const Values& values) {
  std::string text;
  for (std::size_t i = 0; i < values.size() && i < kMostShown; ++i) {
    text += fmt::format("{}{:g}", i == 0 ? "" : " ", values[i]);
  }
  return values.size() > kMostShown ? text + " …" : text;
}

// "A → B  [0] 17   max with 5: 17"
std::string message_text(const TracedMessage& m, ReduceOp op, std::size_t ranks) {
  std::string text = fmt::format("  {} → {}  ", name_of(m.from, ranks), name_of(m.to, ranks));
  const int last = m.offset + static_cast<int>(m.sent.size()) - 1;
  if (m.offset >= 0) {
    text += m.sent.size() == 1 ? fmt::format("[{}] ", m.offset)
                               : fmt::format("[{}-{}] ", m.offset, last);
  }
  text += values_text(m.sent);
  const char* verb = op == ReduceOp::kMean ? "sum" : to_string(op);
  if (!m.combined)
    return text + (m.after.empty() ? "   kept" : "   replaces " + values_text(m.before));
  if (m.after.empty()) return text + fmt::format("   {} with the others", verb);
  return text + fmt::format("   {} with {}: {}", verb, values_text(m.before), values_text(m.after));
}

void print_vectors(const std::vector<Values>& now, const std::vector<Values>& before, bool colour) {
  std::size_t width = 0;
  for (const auto& row : now) {
    for (const float value : row) width = std::max(width, fmt::format("{:g}", value).size());
  }
  for (std::size_t r = 0; r < now.size(); ++r) {
    std::string line = fmt::format("  {:>2} ", name_of(static_cast<int>(r), now.size()));
    for (std::size_t i = 0; i < now[r].size(); ++i) {
      const std::string cell = fmt::format("{:>{}}", fmt::format("{:g}", now[r][i]), width);
      const bool changed = !(now[r][i] == before[r][i]);
      line += changed && colour ? fmt::format("  \x1b[1;32m{}\x1b[0m", cell) : "  " + cell;
    }
    std::cout << line << "\n";
  }
}

void explain(const Arguments& arguments) {
  const ReduceOp op = parse_reduce_op(arguments.op);
  const auto& registry = Registry<AllReduce>::instance();
  const Options options = component_options(registry, arguments.algorithm, arguments.settings);
  const auto rows = parse_rows(arguments.input.empty() ? kExample : arguments.input);
  const int ranks = static_cast<int>(rows.size());
  const std::size_t n = rows[0].size();

  std::string findings;
  const auto steps = trace_all_reduce([&] { return registry.make(arguments.algorithm, options); },
                                      op, rows, findings);
  const bool colour = stdout_is_terminal();
  std::cout << fmt::format("all-reduce {}, {}, {} rank{}, {} element{}\n", arguments.algorithm,
                           to_string(op), ranks, ranks == 1 ? "" : "s", n, n == 1 ? "" : "s");
  if (!findings.empty()) std::cout << trim(findings) << "\n";
  std::cout << "\nstart\n";
  print_vectors(rows, rows, false);
  const std::vector<Values>* before = &rows;
  std::size_t sent = 0, messages = 0;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const auto& step = steps[s];
    std::cout << fmt::format(
        "\nstep {} of {}: {}{}\n", s + 1, steps.size(), step.phase,
        step.count > 1 ? fmt::format(" {}/{}", step.index + 1, step.count) : "");
    for (const auto& message : step.messages) {
      if (message.sent.empty()) continue;
      std::cout << message_text(message, op, rows.size()) << "\n";
      sent += message.sent.size() * sizeof(float);
      ++messages;
    }
    print_vectors(step.vectors, *before, colour);
    before = &step.vectors;
  }
  std::cout << fmt::format("\n{} step{}, {} messages, {} bytes in all; every rank holds {}\n",
                           steps.size(), steps.size() == 1 ? "" : "s", messages, sent,
                           values_text(before->front()));
}

}  // namespace

void add_explain_all_reduce(CLI::App& explain_app) {
  const auto arguments = std::make_shared<Arguments>();
  auto* command = explain_app.add_subcommand(
      "allreduce", "The vectors of all ranks after every step of an all-reduce");
  command->add_option("--algorithm", arguments->algorithm, "One of `lockstep list allreduce`")
      ->capture_default_str();
  command->add_option("--op", arguments->op, "sum, mean, max or min")->capture_default_str();
  command->add_option(
      "--input", arguments->input,
      "One row of numbers a rank, rows separated by semicolons; default: " + std::string(kExample));
  add_set_option(*command, arguments->settings);
  command->callback([arguments] { explain(*arguments); });
}

}  // namespace lockstep
