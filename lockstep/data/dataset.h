// A data set in memory, as it came: bytes or floats, labels, shape. Immutable once made; all
// workers of a process share it. Conversion to floats happens in the loader.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "lockstep/base/aligned.h"
#include "lockstep/base/registry.h"
#include "lockstep/data/batch.h"

namespace lockstep {

struct Dataset {
  std::string name;
  DataShape shape;
  // size × shape.values(), images row, column, channel. Tokens are bytes too: numbers of
  // characters. Tokens of a text overlap: see `stride`.
  std::variant<AlignedVector<std::uint8_t>, AlignedVector<float>> values;
  std::vector<std::int64_t> labels;  // one a sample; empty for kTokens
  std::size_t samples = 0;
  std::size_t first_test = 0;            // samples from here on are the data set's own test set
  std::size_t stride = 0;                // kTokens: sample i starts at i × stride; labels follow
  std::vector<std::string> class_names;  // or empty; characters of the vocabulary for kTokens

  std::size_t size() const { return samples; }
};

// Drops all samples to train on but the first `count`; 0: none. A ConfigError if there are fewer.
void keep_first(std::size_t count, Dataset& dataset);

struct Published;

// Makes a data set; which one and how large comes from its options ([data] in the configuration).
class DatasetSource {
 public:
  virtual ~DatasetSource() = default;
  // Throws a DataError that names the file if something is missing or damaged, and says
  // `lockstep data get NAME` where that would help.
  virtual std::shared_ptr<const Dataset> load() const = 0;
  // What `lockstep data get` would get (published.h), or nothing.
  virtual const Published* published() const { return nullptr; }
};

template <>
Registry<DatasetSource>& Registry<DatasetSource>::instance();

// $LOCKSTEP_DATA, or ~/.cache/lockstep.
std::filesystem::path data_folder();

}  // namespace lockstep
