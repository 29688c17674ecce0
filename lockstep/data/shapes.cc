// The embedded data set: nothing to download, made in a fraction of a second from the counter-based
// generator. Colours, places, sizes and angles say nothing about the class, so a linear model
// learns next to nothing and a small convolutional network almost all.
#include <array>
#include <numeric>

#include "lockstep/data/dataset.h"
#include "lockstep/data/shape_image.h"

namespace lockstep {
namespace {

class Shapes : public DatasetSource {
 public:
  explicit Shapes(const Options& options)
      : train_(static_cast<std::size_t>(options.integer("samples"))),
        test_(static_cast<std::size_t>(options.integer("test"))),
        noise_(options.real("noise")),
        seed_(static_cast<std::uint64_t>(options.integer("seed"))) {}

  std::shared_ptr<const Dataset> load() const override {
    auto dataset = std::make_shared<Dataset>();
    dataset->name = "shapes";
    dataset->class_names = shape_names();
    dataset->shape = {DataShape::Kind::kImage,
                      {3, kShapeSide, kShapeSide},
                      static_cast<std::int64_t>(dataset->class_names.size()),
                      0};
    dataset->samples = train_ + test_;
    dataset->first_test = train_;
    AlignedVector<std::uint8_t> images(dataset->samples * kShapeBytes);
    // A test set of its own: it stays the same however many samples are trained on.
    draw("shapes", train_, images.data(), *dataset);
    draw("shapes test", test_, images.data() + train_ * kShapeBytes, *dataset);
    dataset->values = std::move(images);
    return dataset;
  }

 private:
  // Every ten samples have each class once, in any order.
  void draw(const std::string& purpose, std::size_t count, std::uint8_t* images,
            Dataset& dataset) const {
    std::vector<std::size_t> order(dataset.class_names.size());
    for (std::size_t i = 0; i < count; ++i) {
      if (i % order.size() == 0) {
        std::iota(order.begin(), order.end(), std::size_t{0});
        Random(seed_, purpose + " order", i / order.size()).shuffle(std::span(order));
      }
      const std::size_t figure = order[i % order.size()];
      draw_shape(figure, noise_, Random(seed_, purpose, i),
                 {images + i * kShapeBytes, kShapeBytes});
      dataset.labels.push_back(static_cast<std::int64_t>(figure));
    }
  }

  std::size_t train_, test_;
  double noise_;
  std::uint64_t seed_;
};

OptionSet shapes_options() {
  OptionSet options;
  options.integer("samples", 10000, "images to train on").at_least(1).at_most(10'000'000);
  options.integer("test", 2000, "images of the test set").at_least(0).at_most(10'000'000);
  options.real("noise", 0.08, "deviation of the noise on a pixel, as a share of the range")
      .at_least(0)
      .at_most(1);
  options.integer("seed", 1, "another seed makes other images").at_least(0);
  return options;
}

const Registration<DatasetSource> kShapes{
    "shapes", "Made here: figures of any place, size, angle and colour, 32x32, 10 classes.",
    shapes_options(), [](const Options& options) { return std::make_unique<Shapes>(options); }};

}  // namespace
}  // namespace lockstep
