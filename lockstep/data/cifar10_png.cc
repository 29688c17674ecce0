// The PNG form of CIFAR-10: a file a batch, a row an image, the 1024 pixels of an image one after
// the other; labels as a JSON list. It holds exactly what the authors' .bin files hold, in the same
// order, so it is turned into those.
#include <nlohmann/json.hpp>

#include "lockstep/base/error.h"
#include "lockstep/data/cifar10.h"
#include "lockstep/data/png_pixels.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kImages = 10000, kPixels = 1024;  // of one batch, of one image

fs::path require_below(const fs::path& folder, const std::string& name) {
  const fs::path path = find_below(folder, name);
  if (path.empty()) throw DataError("{} was not among what was downloaded", name);
  return path;
}

FileBytes read_labels(const fs::path& path, std::size_t count) {
  const FileBytes text = read_file(path);
  const auto list = nlohmann::json::parse(text.begin(), text.end(), nullptr, false);
  FileBytes labels;
  if (list.is_array() && list.size() == count) {
    for (const auto& label : list) {
      if (label.is_number_unsigned() && label.get<std::uint64_t>() < 10) {
        labels.push_back(label.get<std::uint8_t>());
      }
    }
  }
  if (labels.size() != count) {
    throw DataError("{} is damaged: it should list {} labels from 0 to 9", path.string(), count);
  }
  return labels;
}

// A label and three planes an image.
FileBytes to_bin(const PngPixels& pixels, const std::uint8_t* labels) {
  FileBytes bin;
  bin.reserve(kImages * (1 + 3 * kPixels));
  for (std::size_t image = 0; image < kImages; ++image) {
    bin.push_back(labels[image]);
    const std::uint8_t* row = pixels.rgb.data() + image * 3 * kPixels;
    for (std::size_t c = 0; c < 3; ++c) {
      for (std::size_t i = 0; i < kPixels; ++i) bin.push_back(row[3 * i + c]);
    }
  }
  return bin;
}

}  // namespace

void convert_cifar10(const fs::path& from, const fs::path& to) {
  if (!find_below(from, cifar10().files[0].name).empty()) {
    for (const auto& file : cifar10().files) {
      write_file(to / file.name, {read_file(require_below(from, file.name))});
    }
    return;
  }
  // Spelled as the package has it.
  const FileBytes train = read_labels(require_below(from, "train_lables.json"), 5 * kImages);
  const FileBytes test = read_labels(require_below(from, "test_lables.json"), kImages);
  for (std::size_t i = 0; i < cifar10().files.size(); ++i) {
    const std::string& name = cifar10().files[i].name;
    const fs::path png = require_below(from, fs::path(name).replace_extension(".png").string());
    const std::uint8_t* labels = i < 5 ? train.data() + i * kImages : test.data();
    write_file(to / name, {to_bin(read_png(png, kPixels, kImages), labels)});
  }
}

}  // namespace lockstep
