// Names for components. Each answer to a question registers itself in the last lines of its file:
//
//   const Registration<AllReduce> kRing{"ring", "One sentence.", {}, [](const Options&) {
//     return std::make_unique<Ring>(); }};
//
// `lockstep list`, help texts and "did you mean" all read the registries; nothing else lists names.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/base/error.h"
#include "lockstep/base/options.h"

namespace lockstep {

// What a registry tells about its entries without knowing what they make.
class Catalogue {
 public:
  struct Item {
    std::string name;
    std::string sentence;
    OptionSet options;
  };

  Catalogue(std::string kind, std::string title);
  virtual ~Catalogue();
  Catalogue(const Catalogue&) = delete;
  Catalogue& operator=(const Catalogue&) = delete;

  const std::string& kind() const { return kind_; }    // "allreduce": what a user types
  const std::string& title() const { return title_; }  // "all-reduce algorithm": what he reads
  std::vector<std::string> names() const;              // sorted
  std::vector<Item> items() const;                     // sorted by name
  // Throws a ConfigError with the valid names and the nearest one.
  const Item& at(std::string_view name) const;
  Options options(std::string_view name) const;  // the defaults of one entry

  static std::vector<const Catalogue*> all();  // sorted by kind

 protected:
  std::size_t add_item(Item item);
  std::size_t index_of(std::string_view name) const;

 private:
  std::string kind_;
  std::string title_;
  std::vector<Item> items_;
};

template <typename T>
class Registry : public Catalogue {
 public:
  using Factory = std::function<std::unique_ptr<T>(const Options&)>;

  using Catalogue::Catalogue;

  // Each kind specialises this next to its interface: that is where its kind and title stand.
  static Registry& instance();

  void add(Item item, Factory factory) {
    add_item(std::move(item));
    factories_.push_back(std::move(factory));
  }
  std::unique_ptr<T> make(std::string_view name, const Options& options) const {
    return factories_[index_of(name)](options);
  }
  std::unique_ptr<T> make(std::string_view name) const { return make(name, options(name)); }

 private:
  std::vector<Factory> factories_;
};

template <typename T>
struct Registration {
  Registration(std::string name, std::string sentence, OptionSet options,
               typename Registry<T>::Factory factory) {
    Registry<T>::instance().add({std::move(name), std::move(sentence), std::move(options)},
                                std::move(factory));
  }
};

}  // namespace lockstep
