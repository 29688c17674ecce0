#include "lockstep/train/ledger_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/text.h"

namespace lockstep {
namespace {

constexpr std::size_t kMostRows = 16;

std::string as_count(double value) {
  return fmt::format("{:.0f}", value);
}

std::string as_size(double value) {
  return format_size(static_cast<std::size_t>(value));
}

struct Column {
  const char* title;
  double WorkerLedger::*value;
  std::string (*write)(double);
};

constexpr Column kColumns[] = {{"steps", &WorkerLedger::steps, as_count},
                               {"computing", &WorkerLedger::computing, format_seconds},
                               {"updating", &WorkerLedger::updating, format_seconds},
                               {"idling", &WorkerLedger::idling, format_seconds},
                               {"waiting", &WorkerLedger::waiting, format_seconds},
                               {"communicating", &WorkerLedger::communicating, format_seconds},
                               {"hidden", &WorkerLedger::hidden, format_seconds},
                               {"encoding", &WorkerLedger::encoding, format_seconds},
                               {"decoding", &WorkerLedger::decoding, format_seconds},
                               {"to stages", &WorkerLedger::passed, as_size},
                               {"sent", &WorkerLedger::sent, as_size},
                               {"received", &WorkerLedger::received, as_size},
                               {"rounds", &WorkerLedger::rounds, as_count}};

// Those of updates (which take no simulated time), compression and overlap only where there are
// any.
std::vector<Column> columns_for(const std::vector<WorkerLedger>& ledgers) {
  std::vector<Column> columns(std::begin(kColumns), std::end(kColumns));
  std::erase_if(columns, [&](const Column& column) {
    const bool optional =
        column.value == &WorkerLedger::updating || column.value == &WorkerLedger::idling ||
        column.value == &WorkerLedger::passed || column.value == &WorkerLedger::encoding ||
        column.value == &WorkerLedger::decoding || column.value == &WorkerLedger::hidden;
    return optional && std::ranges::none_of(ledgers, [&](const WorkerLedger& ledger) {
             return ledger.*column.value > 0;
           });
  });
  return columns;
}

// A column's values by size: its least is not the row of one worker.
std::vector<std::string> quantile_row(const char* name, const std::vector<Column>& columns,
                                      const std::vector<WorkerLedger>& ledgers, std::size_t place) {
  std::vector<std::string> row{name};
  for (const Column& column : columns) {
    std::vector<double> values;
    for (const WorkerLedger& ledger : ledgers) values.push_back(ledger.*column.value);
    std::ranges::sort(values);
    row.push_back(column.write(values[place]));
  }
  return row;
}

}  // namespace

std::string ledger_table(const std::vector<WorkerLedger>& ledgers, const Placement& placement) {
  const std::vector<Column> columns = columns_for(ledgers);
  std::vector<std::vector<std::string>> rows{{"worker"}};
  for (const Column& column : columns) rows.front().push_back(column.title);
  if (ledgers.size() <= kMostRows) {
    for (std::size_t rank = 0; rank < ledgers.size(); ++rank) {
      auto& row = rows.emplace_back(1, placement.name_of(static_cast<int>(rank)));
      for (const Column& column : columns) row.push_back(column.write(ledgers[rank].*column.value));
    }
  } else {
    rows.push_back(quantile_row("least", columns, ledgers, 0));
    rows.push_back(quantile_row("median", columns, ledgers, ledgers.size() / 2));
    rows.push_back(quantile_row("most", columns, ledgers, ledgers.size() - 1));
  }
  return format_table(rows);
}

std::string staleness_line(const StalenessRecord& record) {
  double pushes = 0, sum = 0;
  for (std::size_t age = 0; age < record.pushes.size(); ++age) {
    pushes += static_cast<double>(record.pushes[age]);
    sum += static_cast<double>(record.pushes[age]) * static_cast<double>(age);
  }
  if (pushes == 0) return "";
  return fmt::format("staleness   mean {:.2f}, at most {}; {} of {:.0f} pushes rejected",
                     sum / pushes, record.pushes.size() - 1, record.rejected, pushes);
}

}  // namespace lockstep
