// A state visitor that keeps everything in memory.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "lockstep/base/state.h"

namespace lockstep {

// Remembers what a component shows of its state, or gives it back.
class MemoryState : public StateVisitor {
 public:
  void restore() { restoring_ = true; }
  const std::map<std::string, std::vector<float>>& all_floats() const { return floats_; }

  void floats(std::string_view name, std::span<float> values) override {
    auto& stored = floats_[std::string(name)];
    if (!restoring_) {
      stored.assign(values.begin(), values.end());
    } else {
      ASSERT_EQ(stored.size(), values.size()) << name;
      std::copy(stored.begin(), stored.end(), values.begin());
    }
  }
  void integer(std::string_view name, std::int64_t& value) override {
    keep(integers_[std::string(name)], value);
  }
  void real(std::string_view name, double& value) override {
    keep(reals_[std::string(name)], value);
  }
  void bytes(std::string_view name, std::vector<std::byte>& value) override {
    keep(bytes_[std::string(name)], value);
  }

 private:
  template <typename T>
  void keep(T& stored, T& value) {
    restoring_ ? value = stored : stored = value;
  }

  bool restoring_ = false;
  std::map<std::string, std::vector<float>> floats_;
  std::map<std::string, std::int64_t> integers_;
  std::map<std::string, double> reals_;
  std::map<std::string, std::vector<std::byte>> bytes_;
};

}  // namespace lockstep
