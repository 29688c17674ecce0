// What a component must remember to go on where it stopped. One function shows every value under a
// name; saving reads them, restoring overwrites them, so the two can never disagree.
//
//   void Momentum::state(StateVisitor& visitor) { visitor.floats("velocity", velocity_); }
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/base/error.h"

namespace lockstep {

class StateVisitor {
 public:
  virtual ~StateVisitor() = default;

  // The length is fixed by the configuration: a stored value of another length is an error.
  virtual void floats(std::string_view name, std::span<float> values) = 0;
  virtual void integer(std::string_view name, std::int64_t& value) = 0;
  virtual void real(std::string_view name, double& value) = 0;
  // Any length; restoring resizes it.
  virtual void bytes(std::string_view name, std::vector<std::byte>& value) = 0;
};

// A list of numbers, of any length.
template <typename T>
void visit_list(StateVisitor& visitor, std::string_view name, std::vector<T>& list) {
  const auto view = std::as_bytes(std::span(list));
  std::vector<std::byte> bytes(view.begin(), view.end());
  visitor.bytes(name, bytes);
  if (bytes.size() % sizeof(T) != 0) {
    throw DataError("a checkpoint's {} has {} bytes, which is no list", name, bytes.size());
  }
  list.resize(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(list.data(), bytes.data(), bytes.size());
}

// Shows the values of a part under "part.name".
class StateScope : public StateVisitor {
 public:
  StateScope(StateVisitor& outer, std::string_view part) : outer_(outer), prefix_(part) {
    prefix_ += '.';
  }
  void floats(std::string_view name, std::span<float> values) override {
    outer_.floats(prefix_ + std::string(name), values);
  }
  void integer(std::string_view name, std::int64_t& value) override {
    outer_.integer(prefix_ + std::string(name), value);
  }
  void real(std::string_view name, double& value) override {
    outer_.real(prefix_ + std::string(name), value);
  }
  void bytes(std::string_view name, std::vector<std::byte>& value) override {
    outer_.bytes(prefix_ + std::string(name), value);
  }

 private:
  StateVisitor& outer_;
  std::string prefix_;
};

}  // namespace lockstep
