#include "lockstep/base/registry.h"

#include <algorithm>

#include "lockstep/base/text.h"

namespace lockstep {
namespace {

std::vector<const Catalogue*>& catalogues() {
  static std::vector<const Catalogue*> all;
  return all;
}

}  // namespace

Catalogue::Catalogue(std::string kind, std::string title)
    : kind_(std::move(kind)), title_(std::move(title)) {
  catalogues().push_back(this);
}

Catalogue::~Catalogue() {
  std::erase(catalogues(), this);
}

std::size_t Catalogue::add_item(Item item) {
  for (const auto& known : items_) {
    LOCKSTEP_CHECK(known.name != item.name, "two registrations of {} \"{}\"", title_, item.name);
  }
  items_.push_back(std::move(item));
  return items_.size() - 1;
}

std::vector<std::string> Catalogue::names() const {
  std::vector<std::string> names;
  for (const auto& item : items_) names.push_back(item.name);
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<Catalogue::Item> Catalogue::items() const {
  std::vector<Item> sorted = items_;
  std::sort(sorted.begin(), sorted.end(),
            [](const Item& a, const Item& b) { return a.name < b.name; });
  return sorted;
}

std::size_t Catalogue::index_of(std::string_view name) const {
  for (std::size_t i = 0; i < items_.size(); ++i) {
    if (items_[i].name == name) return i;
  }
  throw ConfigError("{}", unknown_name(title_, name, names()));
}

const Catalogue::Item& Catalogue::at(std::string_view name) const {
  return items_[index_of(name)];
}

Options Catalogue::options(std::string_view name) const {
  const Item& item = at(name);
  return Options(item.options, fmt::format("{} \"{}\"", title_, item.name));
}

std::vector<const Catalogue*> Catalogue::all() {
  std::vector<const Catalogue*> sorted = catalogues();
  std::sort(sorted.begin(), sorted.end(),
            [](const Catalogue* a, const Catalogue* b) { return a->kind() < b->kind(); });
  return sorted;
}

}  // namespace lockstep
