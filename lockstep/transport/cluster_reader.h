// Reads one table of a cluster file and has the sentences for what is wrong in it. Only for files
// that include toml++ anyway.
#pragma once

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lockstep/base/error.h"
#include "lockstep/base/text.h"
#include "lockstep/transport/cluster_file.h"

namespace lockstep {

class ClusterReader {
 public:
  static constexpr double kFastest = 1e15;    // bytes a second
  static constexpr double kMostBytes = 1e16;  // of memory
  static constexpr double kLongest = 1e6;     // seconds of latency
  static constexpr double kShortest = 1e-12;  // seconds; less is none

  ClusterReader(const toml::table& table, std::string file, std::string section)
      : table_(table), file_(std::move(file)), section_(std::move(section)) {}

  void allow(const std::vector<std::string>& keys) const {
    for (const auto& [key, node] : table_) {
      const std::string name(key.str());
      if (std::find(keys.begin(), keys.end(), name) == keys.end()) {
        throw ConfigError(
            "{}:{}: {}", file_, key.source().begin.line,
            unknown_name("key" + (section_.empty() ? "" : " in " + section_), name, keys));
      }
    }
  }

  bool has(const char* key) const { return table_.contains(key); }

  void require(const char* key, const char* why) const {
    if (!has(key)) throw ConfigError("{}: {} is missing; {}", file_, full(key), why);
  }

  // "rack.toml:7: latency", to begin an error with.
  std::string where(const char* key) const {
    const toml::node* node = table_.get(key);
    return fmt::format("{}:{}: {}", file_, node ? node->source().begin.line : 1, full(key));
  }

  std::int64_t integer(const char* key, std::int64_t fallback, std::int64_t least,
                       std::int64_t most) const {
    if (!has(key)) return fallback;
    return whole(table_.at(key), where(key), least, most);
  }

  double real(const char* key, double fallback, double least, double most, bool above) const {
    if (!has(key)) return fallback;
    const auto value = table_.at(key).value<double>();
    if (!value || !table_.at(key).is_number()) {
      throw ConfigError("{} must be a number", where(key));
    }
    return within(*value, key, least, most, above);
  }

  using Parse = double (*)(std::string_view, const std::string&);
  double quantity(const char* key, double fallback, double most, bool above, Parse parse) const {
    if (!has(key)) return fallback;
    const toml::node& node = table_.at(key);
    if (node.is_string()) {
      return within(parse(*node.value<std::string>(), where(key)), key, 0, most, above);
    }
    if (!node.is_number()) {
      throw ConfigError("{} must be a text with a unit, such as \"{}\", or a number of {}",
                        where(key), above ? "1Gbit/s" : "50us",
                        above ? "bytes a second" : "seconds");
    }
    return within(*node.value<double>(), key, 0, most, above);
  }
  double bandwidth(const char* key, double fallback) const {
    return quantity(key, fallback, kFastest, true, parse_bandwidth);
  }
  double latency(const char* key, double fallback) const {
    const double seconds = quantity(key, fallback, kLongest, false, parse_latency);
    return seconds < kShortest ? 0 : seconds;
  }

  double bytes(const char* key, double fallback) const {
    if (!has(key)) return fallback;
    const toml::node& node = table_.at(key);
    if (node.is_string()) {
      const auto size = parse_size(*node.value<std::string>(), where(key));
      return within(static_cast<double>(size), key, 0, kMostBytes, true);
    }
    if (!node.is_number()) {
      throw ConfigError("{} must be a text, such as \"4G\", or a number of bytes", where(key));
    }
    return within(*node.value<double>(), key, 0, kMostBytes, true);
  }

  std::vector<int> counts(const char* key) const {
    const toml::array* list = table_.at(key).as_array();
    if (list == nullptr || list->empty()) {
      throw ConfigError("{} must be a list of whole numbers, such as [4, 4]", where(key));
    }
    std::vector<int> values;
    for (const toml::node& node : *list) {
      values.push_back(static_cast<int>(whole(node, where(key), 1, kMostHosts)));
    }
    return values;
  }

 private:
  std::string full(const char* key) const {
    return section_.empty() ? key : fmt::format("{} {}", section_, key);
  }

  static std::int64_t whole(const toml::node& node, const std::string& where, std::int64_t least,
                            std::int64_t most) {
    const auto* value = node.as_integer();
    if (value == nullptr || value->get() < least || value->get() > most) {
      throw ConfigError("{} must be a whole number from {} to {}{}", where, least, most,
                        value ? fmt::format(", not {}", value->get()) : "");
    }
    return value->get();
  }

  double within(double value, const char* key, double least, double most, bool above) const {
    if (std::isfinite(value) && (above ? value > least : value >= least) && value <= most) {
      return value;
    }
    throw ConfigError("{} must be {} {:g} and at most {:g}, not {:g}", where(key),
                      above ? "above" : "at least", least, most, value);
  }

  const toml::table& table_;
  std::string file_, section_;
};

}  // namespace lockstep
