// The user's own arrays. Images come as PyTorch has them (N, C, H, W) and are turned to row,
// column, channel here, once.
#include <cmath>
#include <cstring>
#include <limits>

#include "lockstep/data/dataset.h"
#include "lockstep/data/npy.h"

namespace lockstep {
namespace {

// What one sample of an array of this shape is.
DataShape sample_shape(const NpyShape& shape) {
  using Kind = DataShape::Kind;
  NpyShape rest(shape.begin() + 1, shape.end());
  if (rest.empty()) rest.push_back(1);
  if (shape.size() == 3) rest.insert(rest.begin(), 1);
  return {shape.size() == 3 || shape.size() == 4 ? Kind::kImage : Kind::kVector, rest, 0, 0};
}

template <typename T>
void append_images(const DataShape& shape, const AlignedVector<T>& from, AlignedVector<T>& to) {
  const auto channels = static_cast<std::size_t>(shape.sample[0]);
  const std::size_t area = shape.values() / channels;
  std::size_t at = to.size();
  to.resize(at + from.size());
  for (std::size_t image = 0; image < from.size(); image += shape.values()) {
    for (std::size_t pixel = 0; pixel < area; ++pixel) {
      for (std::size_t c = 0; c < channels; ++c) to[at++] = from[image + c * area + pixel];
    }
  }
}

template <typename T>
void append(const DataShape& shape, AlignedVector<T> from, AlignedVector<T>& to) {
  if (shape.kind == DataShape::Kind::kImage && shape.sample[0] > 1) {
    append_images(shape, from, to);
  } else if (to.empty()) {
    to = std::move(from);
  } else {
    const std::size_t at = to.size();
    to.resize(at + from.size());
    std::memcpy(to.data() + at, from.data(), from.size() * sizeof(T));
  }
}

void check_finite(const std::string& file, const AlignedVector<float>& values,
                  std::size_t values_per_sample) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      throw DataError("{}: sample {} holds {}; every value must be a finite number", file,
                      i / values_per_sample, values[i]);
    }
  }
}

// Appends the samples of one file; returns how many.
std::size_t add_samples(const std::string& file, Dataset& dataset) {
  NpyArray array = read_npy(file);
  if (array.shape.empty()) throw DataError("{} holds one number, not an array of samples", file);
  const DataShape shape = sample_shape(array.shape);
  const auto count = static_cast<std::size_t>(array.shape[0]);
  if (count == 0 || shape.values() == 0) {
    throw DataError("{} is empty: its shape is {}", file, to_text(array.shape));
  }
  const bool first = dataset.samples == 0;
  if (first) dataset.shape = shape;
  if (shape != dataset.shape) {
    throw DataError("{}: a test sample has shape {}, a training sample {}", file,
                    to_text(shape.sample), to_text(dataset.shape.sample));
  }
  if (dataset.samples + count > std::numeric_limits<SampleId>::max()) {
    throw DataError("{}: {} samples are more than can be numbered", file, dataset.samples + count);
  }
  if (auto* floats = std::get_if<AlignedVector<float>>(&array.values)) {
    check_finite(file, *floats, shape.values());
    if (first) dataset.values = AlignedVector<float>();
    if (auto* to = std::get_if<AlignedVector<float>>(&dataset.values)) {
      append(shape, std::move(*floats), *to);
      return count;
    }
  } else if (auto* bytes = std::get_if<AlignedVector<std::uint8_t>>(&array.values)) {
    if (first) dataset.values = AlignedVector<std::uint8_t>();
    if (auto* to = std::get_if<AlignedVector<std::uint8_t>>(&dataset.values)) {
      append(shape, std::move(*bytes), *to);
      return count;
    }
  } else {
    throw DataError("{} holds int64; samples must be float32 or uint8", file);
  }
  throw DataError("{}: test samples must be of the same type as training samples", file);
}

// `most` is the number of classes, or 0 if any will do.
void add_labels(const std::string& file, const std::string& samples_file, std::size_t count,
                std::int64_t most, std::vector<std::int64_t>& labels) {
  const NpyArray array = read_npy(file);
  if (array.shape.size() != 1 || static_cast<std::size_t>(array.shape[0]) != count) {
    throw DataError("{} has shape {}; {} has {} samples, which need shape ({},)", file,
                    to_text(array.shape), samples_file, count, count);
  }
  if (std::holds_alternative<AlignedVector<float>>(array.values)) {
    throw DataError("{} holds float32; labels must be int64 or uint8", file);
  }
  // Without a number of classes a wild label would only show as a model that fits no memory.
  const std::int64_t end = most > 0 ? most : std::int64_t{1} << 24;
  std::visit(
      [&](const auto& values) {
        for (std::size_t i = 0; i < values.size(); ++i) {
          const auto label = static_cast<std::int64_t>(values[i]);
          if (label < 0 || label >= end) {
            throw DataError("{}: label {} is {}; labels must be from 0 to {}", file, i, label,
                            end - 1);
          }
          labels.push_back(label);
        }
      },
      array.values);
}

class Npy : public DatasetSource {
 public:
  explicit Npy(const Options& options)
      : x_(options.text("x")),
        y_(options.text("y")),
        test_x_(options.text("test_x")),
        test_y_(options.text("test_y")),
        classes_(options.integer("classes")) {}

  std::shared_ptr<const Dataset> load() const override {
    if (x_.empty() || y_.empty()) {
      throw ConfigError("data set \"npy\" needs the files x and y, such as x=x.npy and y=y.npy");
    }
    if (test_x_.empty() != test_y_.empty()) {
      throw ConfigError("data set \"npy\": give both test_x and test_y, or neither");
    }
    auto dataset = std::make_shared<Dataset>();
    dataset->name = "npy";
    add(x_, y_, *dataset);
    dataset->first_test = dataset->samples;
    if (!test_x_.empty()) add(test_x_, test_y_, *dataset);
    dataset->shape.classes = classes_;
    if (classes_ == 0) {
      for (const auto label : dataset->labels) {
        dataset->shape.classes = std::max(dataset->shape.classes, label + 1);
      }
    }
    return dataset;
  }

 private:
  void add(const std::string& x, const std::string& y, Dataset& dataset) const {
    const std::size_t count = add_samples(x, dataset);
    add_labels(y, x, count, classes_, dataset.labels);
    dataset.samples += count;
  }

  std::string x_, y_, test_x_, test_y_;
  std::int64_t classes_;
};

OptionSet npy_options() {
  OptionSet options;
  options.text("x", "",
               "samples: a .npy file of float32 or uint8, (N, C, H, W) or any other shape");
  options.text("y", "", "labels: a .npy file of int64 or uint8, (N,)");
  options.text("test_x", "", "samples of the test set, or nothing");
  options.text("test_y", "", "labels of the test set, or nothing");
  options.integer("classes", 0, "number of classes; 0 takes the highest label + 1")
      .at_least(0)
      .at_most(1 << 24);
  return options;
}

const Registration<DatasetSource> kNpy{
    "npy", "Your own samples and labels, from .npy files as NumPy saves them.", npy_options(),
    [](const Options& options) { return std::make_unique<Npy>(options); }};

}  // namespace
}  // namespace lockstep
