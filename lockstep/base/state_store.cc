#include "lockstep/base/state_store.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <set>

#include "lockstep/base/error.h"

namespace lockstep {
namespace {

constexpr std::array<std::string_view, 4> kKindNames{"floats", "integer", "real", "bytes"};

class Reader : public StateVisitor {
 public:
  explicit Reader(const std::function<void(const StateValue&)>& use) : use_(use) {}

  void floats(std::string_view name, std::span<float> values) override {
    show(name, StateKind::kFloats, std::as_bytes(values));
  }
  void integer(std::string_view name, std::int64_t& value) override {
    show(name, StateKind::kInteger, std::as_bytes(std::span(&value, 1)));
  }
  void real(std::string_view name, double& value) override {
    show(name, StateKind::kReal, std::as_bytes(std::span(&value, 1)));
  }
  void bytes(std::string_view name, std::vector<std::byte>& value) override {
    show(name, StateKind::kBytes, value);
  }

 private:
  void show(std::string_view name, StateKind kind, std::span<const std::byte> bytes) {
    LOCKSTEP_CHECK(!name.empty() && names_.emplace(name).second,
                   "two values of the state are called \"{}\"", name);
    use_({std::string(name), kind, bytes});
  }

  const std::function<void(const StateValue&)>& use_;
  std::set<std::string, std::less<>> names_;
};

class Restorer : public StateVisitor {
 public:
  Restorer(std::span<const StateValue> values, const std::string& source)
      : values_(values), source_(source) {
    for (const StateValue& value : values_) index_.emplace(value.name, &value);
  }

  void floats(std::string_view name, std::span<float> values) override {
    fill(take(name, StateKind::kFloats), std::as_writable_bytes(values));
  }
  void integer(std::string_view name, std::int64_t& value) override {
    fill(take(name, StateKind::kInteger), std::as_writable_bytes(std::span(&value, 1)));
  }
  void real(std::string_view name, double& value) override {
    fill(take(name, StateKind::kReal), std::as_writable_bytes(std::span(&value, 1)));
  }
  void bytes(std::string_view name, std::vector<std::byte>& value) override {
    const StateValue& stored = take(name, StateKind::kBytes);
    value.resize(stored.bytes.size());
    fill(stored, value);
  }

  std::vector<std::string> leftovers() const {
    std::vector<std::string> names;
    for (const StateValue& value : values_) {
      if (!taken_.contains(value.name)) names.push_back(value.name);
    }
    return names;
  }

 private:
  const StateValue& take(std::string_view name, StateKind kind) {
    const auto found = index_.find(name);
    if (found == index_.end()) throw DataError("{} has no value \"{}\"", source_, name);
    const StateValue& value = *found->second;
    if (value.kind != kind) {
      throw DataError("{}: \"{}\" is of kind {}, expected {}", source_, name, kind_name(value.kind),
                      kind_name(kind));
    }
    taken_.emplace(name);
    return value;
  }

  void fill(const StateValue& value, std::span<std::byte> place) const {
    if (value.bytes.size() != place.size()) {
      throw DataError("{}: \"{}\" has {} values, expected {}", source_, value.name, value.count(),
                      place.size() / element_size(value.kind));
    }
    if (!place.empty()) std::memcpy(place.data(), value.bytes.data(), place.size());
  }

  std::span<const StateValue> values_;
  const std::string& source_;
  std::map<std::string_view, const StateValue*> index_;
  std::set<std::string, std::less<>> taken_;
};

}  // namespace

std::string_view kind_name(StateKind kind) {
  return kKindNames[static_cast<std::size_t>(kind)];
}

std::optional<StateKind> kind_named(std::string_view name) {
  const auto found = std::find(kKindNames.begin(), kKindNames.end(), name);
  if (found == kKindNames.end()) return {};
  return static_cast<StateKind>(found - kKindNames.begin());
}

std::size_t element_size(StateKind kind) {
  constexpr std::array<std::size_t, 4> kSizes{4, 8, 8, 1};
  return kSizes[static_cast<std::size_t>(kind)];
}

void read_state(const ShowState& show, const std::function<void(const StateValue&)>& use) {
  Reader reader(use);
  show(reader);
}

StateStore::StateStore(const ShowState& show) {
  read_state(show, [&](const StateValue& value) {
    memory_.emplace_back(value.bytes.begin(), value.bytes.end());
    values_.push_back({value.name, value.kind, memory_.back()});
  });
}

void StateStore::restore(const ShowState& show) const {
  restore_state(values_, "the copy of the state", show);
}

std::vector<std::string> restore_state(std::span<const StateValue> values,
                                       const std::string& source, const ShowState& show) {
  Restorer restorer(values, source);
  show(restorer);
  return restorer.leftovers();
}

}  // namespace lockstep
