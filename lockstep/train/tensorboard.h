// Event files for TensorBoard: `tensorboard --logdir runs` draws the curves of all runs.
//
// A file is a row of records: length (8 bytes), a masked CRC-32C of the length, the event, a masked
// CRC-32C of the event. An event is a Protocol Buffers message of TensorFlow's event.proto, of
// which only these fields are written, by hand: wall_time = 1, step = 2, file_version = 3, summary
// = 5 (value = 1: tag = 1, simple_value = 2), session_log = 7 (status = 1, of which 1 is START).
#pragma once

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {

class EventWriter {
 public:
  // A new file in `folder`, whose name sorts behind those that are there: TensorBoard reads them in
  // that order. A run that goes on after `resumed_step` says so: TensorBoard then drops what
  // earlier files have of later steps. wall_time: seconds since 1970. DataError if it cannot be
  // written.
  EventWriter(const std::string& folder, double wall_time,
              std::optional<std::int64_t> resumed_step = {});

  void write(std::int64_t step, double wall_time,
             const std::vector<std::pair<std::string, double>>& scalars);

  const std::string& path() const { return path_; }

 private:
  void put_record(const std::string& event);

  std::string path_;
  std::ofstream file_;
};

}  // namespace lockstep
