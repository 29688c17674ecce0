// Reads graphs: everything is checked, for the file may be anybody's.
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "lockstep/base/error.h"
#include "lockstep/base/file.h"
#include "lockstep/base/text.h"
#include "lockstep/base/toml_file.h"
#include "lockstep/pipeline/operator_graph.h"
#include "lockstep/transport/cluster_file.h"

namespace lockstep {
namespace {

constexpr std::size_t kMostOperators = 100'000;
constexpr double kLongest = 1e6, kMostBytes = 1e13;
constexpr std::size_t kLargestFile = std::size_t{1} << 28;

class GraphReader : private TomlFile {
 public:
  using TomlFile::TomlFile;

  OperatorGraph read(const toml::table& table) {
    OperatorGraph graph;
    for (const auto& [key, node] : table) {
      if (key.str() == "title") {
        graph.title = text_of(node, "title");
      } else if (key.str() == "operator") {
        for (const toml::node& one : as_array(node, "operator")) read_operator(one, graph);
      } else {
        fail_key(node, "key of a graph", key.str(), {"title", "operator"});
      }
    }
    if (graph.operators.empty()) throw ConfigError("{}: there is no [[operator]]", path());
    for (std::size_t i = 0; i < graph.operators.size(); ++i) read_inputs(i, graph);
    try {
      connect(graph);
    } catch (const ConfigError& error) {
      throw ConfigError("{}: {}", path(), error.what());
    }
    return graph;
  }

 private:
  double within(double value, double most, const toml::node& node, const char* key) {
    if (std::isfinite(value) && value >= 0 && value <= most) return value;
    fail(node, "{} must be from 0 to {:g}", key, most);
  }
  // A number, or a text with a unit.
  double quantity(const toml::node& node, const char* key, const char* example, double most,
                  double (*parse_text)(std::string_view, const std::string&)) {
    if (node.is_number()) return within(*node.value<double>(), most, node, key);
    if (!node.is_string()) fail(node, "{} must be a number or a text such as \"{}\"", key, example);
    const std::string place = fmt::format("{}: {}", where(node), key);
    return within(parse_text(node.as_string()->get(), place), most, node, key);
  }
  double bytes_of(const toml::node& node, const char* key) {
    return quantity(node, key, "64K", kMostBytes,
                    [](std::string_view text, const std::string& what) {
                      return static_cast<double>(parse_size(std::string(text), what));
                    });
  }

  void read_operator(const toml::node& node, OperatorGraph& graph) {
    const toml::table& table = as_table(node, "operator");
    if (graph.operators.size() == kMostOperators) {
      fail(node, "there are more than {} operators", kMostOperators);
    }
    Operator made;
    for (const auto& [key, value] : table) {
      if (key.str() == "name") {
        made.name = text_of(value, "name");
      } else if (key.str() == "seconds") {
        made.seconds = quantity(value, "seconds", "3ms", kLongest, parse_latency);
      } else if (key.str() == "memory") {
        made.memory = bytes_of(value, "memory");
      } else if (key.str() != "inputs") {
        fail_key(value, "key of an operator", key.str(), {"name", "seconds", "memory", "inputs"});
      }
    }
    const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20; };
    if (made.name.empty() || std::ranges::any_of(made.name, is_control)) {
      fail(node, "an operator needs a name of one line");
    }
    if (!numbers_.emplace(made.name, graph.operators.size()).second) {
      fail(node, "operator \"{}\" stands there twice", made.name);
    }
    graph.operators.push_back(std::move(made));
    tables_.push_back(&table);
  }

  // inputs = [{from = "conv1", bytes = "64K"}]
  void read_inputs(std::size_t i, OperatorGraph& graph) {
    const toml::node* inputs = tables_[i]->get("inputs");
    if (inputs == nullptr) return;
    for (const toml::node& one : as_array(*inputs, "inputs")) {
      GraphInput input;
      bool named = false;
      for (const auto& [key, value] : as_table(one, "an input")) {
        if (key.str() == "from") {
          const std::string from = text_of(value, "from");
          const auto found = numbers_.find(from);
          if (found == numbers_.end()) fail(value, "there is no operator \"{}\"", from);
          input.from = found->second;
          named = true;
        } else if (key.str() == "bytes") {
          input.bytes = bytes_of(value, "bytes");
        } else {
          fail_key(value, "key of an input", key.str(), {"from", "bytes"});
        }
      }
      if (!named) fail(one, "an input needs `from`, the name of an operator");
      graph.operators[i].inputs.push_back(input);
    }
  }

  std::map<std::string, std::size_t> numbers_;
  std::vector<const toml::table*> tables_;
};

}  // namespace

OperatorGraph parse_graph(std::string_view text, const std::string& name) {
  const toml::table table = TomlFile::parse(text, name);
  return GraphReader(name).read(table);
}

OperatorGraph load_graph(const std::string& path) {
  return parse_graph(read_text_file(path, kLargestFile), path);
}

}  // namespace lockstep
