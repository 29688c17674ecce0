#include "lockstep/sync/optimizer_snapshot.h"

#include <algorithm>

namespace lockstep {

// Memory is kept from one snapshot to the next, as they are of the same size.
class OptimizerSnapshot::Taker : public StateVisitor {
 public:
  explicit Taker(OptimizerSnapshot& to) : to_(to) {
    to.integers_.clear();
    to.reals_.clear();
    to.bytes_.clear();
  }
  void floats(std::string_view, std::span<float> values) override {
    if (to_.floats_.size() == vectors_) to_.floats_.emplace_back();
    to_.floats_[vectors_++].assign(values.begin(), values.end());
  }
  void integer(std::string_view, std::int64_t& value) override { to_.integers_.push_back(value); }
  void real(std::string_view, double& value) override { to_.reals_.push_back(value); }
  void bytes(std::string_view, std::vector<std::byte>& value) override {
    to_.bytes_.push_back(value);
  }

 private:
  OptimizerSnapshot& to_;
  std::size_t vectors_ = 0;
};

class OptimizerSnapshot::Returner : public StateVisitor {
 public:
  explicit Returner(const OptimizerSnapshot& from) : from_(from) {}
  void floats(std::string_view, std::span<float> values) override {
    std::ranges::copy(from_.floats_.at(vectors_++), values.begin());
  }
  void integer(std::string_view, std::int64_t& value) override {
    value = from_.integers_.at(integers_++);
  }
  void real(std::string_view, double& value) override { value = from_.reals_.at(reals_++); }
  void bytes(std::string_view, std::vector<std::byte>& value) override {
    value = from_.bytes_.at(bytes_++);
  }

 private:
  const OptimizerSnapshot& from_;
  std::size_t vectors_ = 0, integers_ = 0, reals_ = 0, bytes_ = 0;
};

void OptimizerSnapshot::take(Optimizer& optimizer) {
  Taker taker(*this);
  optimizer.state(taker);
}

void OptimizerSnapshot::put_back(Optimizer& optimizer) {
  Returner returner(*this);
  optimizer.state(returner);
}

}  // namespace lockstep
