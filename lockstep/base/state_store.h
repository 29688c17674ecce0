// The values of a state() visit as bytes, and back: what checkpoints, comparisons between ranks and
// copies in memory have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/base/state.h"

namespace lockstep {

enum class StateKind { kFloats, kInteger, kReal, kBytes };

std::string_view kind_name(StateKind kind);  // "floats", "integer", "real", "bytes"
std::optional<StateKind> kind_named(std::string_view name);
std::size_t element_size(StateKind kind);

struct StateValue {
  std::string name;
  StateKind kind;
  std::span<const std::byte> bytes;  // in the order of bytes of this machine
  std::size_t count() const { return bytes.size() / element_size(kind); }
};

// Shows a component's values to the visitor: `[&](StateVisitor& v) { optimizer.state(v); }`.
// Showing must change nothing by itself; saving does it more than once.
using ShowState = std::function<void(StateVisitor&)>;

// Calls `use` with every value. Two values of one name are a bug of whoever shows them.
void read_state(const ShowState& show, const std::function<void(const StateValue&)>& use);

// Copies of all values; restore() puts them back.
class StateStore {
 public:
  explicit StateStore(const ShowState& show);
  StateStore(const StateStore&) = delete;
  StateStore& operator=(const StateStore&) = delete;

  const std::vector<StateValue>& values() const { return values_; }
  void restore(const ShowState& show) const;

 private:
  std::vector<std::vector<std::byte>> memory_;
  std::vector<StateValue> values_;
};

// Writes stored values into what `show` shows. A value that is not there, has another kind or
// another length is a DataError that names it and `source`. Returns the names of the values that
// nobody asked for, in the order of `values`.
std::vector<std::string> restore_state(std::span<const StateValue> values,
                                       const std::string& source, const ShowState& show);

}  // namespace lockstep
