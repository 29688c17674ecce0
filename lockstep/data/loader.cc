#include "lockstep/data/loader.h"

#include <cmath>
#include <cstring>

#include "lockstep/base/error.h"
#include "lockstep/base/random.h"

namespace lockstep {

// The upper left corner of the window, counted from that of the image itself.
struct Loader::Window {
  std::int64_t row = 0, column = 0;
  bool flip = false;
};

namespace {

void check_contents(const Dataset& dataset) {
  const DataShape& shape = dataset.shape;
  const bool tokens = shape.kind == DataShape::Kind::kTokens;
  LOCKSTEP_CHECK(shape.kind != DataShape::Kind::kImage || shape.sample.size() == 3,
                 "an image of {} dimensions", shape.sample.size());
  const std::size_t held =
      std::visit([](const auto& values) { return values.size(); }, dataset.values);
  std::size_t needed = dataset.samples * shape.values();
  if (tokens) {
    if (!std::holds_alternative<AlignedVector<std::uint8_t>>(dataset.values)) {
      throw DataError("data set {} has tokens that are not bytes", dataset.name);
    }
    // One more than the last sequence: its last label.
    needed = dataset.samples == 0 ? 0 : (dataset.samples - 1) * dataset.stride + shape.values() + 1;
  }
  if (held < needed) {
    throw DataError("data set {} holds {} values, but its {} samples need {}", dataset.name, held,
                    dataset.samples, needed);
  }
  if (!tokens && dataset.labels.size() != dataset.samples) {
    throw DataError("data set {} has {} labels for {} samples", dataset.name, dataset.labels.size(),
                    dataset.samples);
  }
}

void check_normalisation(const Normalisation& normalisation, std::size_t channels) {
  if (normalisation.mean.size() != normalisation.deviation.size() ||
      (!normalisation.mean.empty() && normalisation.mean.size() != channels)) {
    throw ConfigError("normalisation has {} means and {} deviations; it must have {} of each",
                      normalisation.mean.size(), normalisation.deviation.size(), channels);
  }
  for (std::size_t c = 0; c < normalisation.mean.size(); ++c) {
    if (!std::isfinite(normalisation.mean[c]) || !(normalisation.deviation[c] > 0)) {
      throw ConfigError(
          "normalisation of channel {} is mean {}, deviation {}; it must be finite "
          "and the deviation above 0",
          c, normalisation.mean[c], normalisation.deviation[c]);
    }
  }
}

void check_augmentation(const Augmentation& augmentation, const Dataset& dataset) {
  if (augmentation.pad < 0) {
    throw ConfigError("pad = {}; it must be at least 0", augmentation.pad);
  }
  const bool image = dataset.shape.kind == DataShape::Kind::kImage;
  if (!image && (augmentation.pad > 0 || augmentation.flip)) {
    throw ConfigError("data set {} has no images: pad must be 0 and flip false", dataset.name);
  }
}

}  // namespace

Loader::Loader(std::shared_ptr<const Dataset> dataset, Normalisation normalisation,
               Augmentation augmentation, std::uint64_t seed)
    : dataset_(std::move(dataset)),
      normalisation_(std::move(normalisation)),
      augmentation_(augmentation),
      seed_(seed),
      channels_(channels_of(dataset_->shape)) {
  check_contents(*dataset_);
  check_normalisation(normalisation_, channels_);
  check_augmentation(augmentation_, *dataset_);
  const bool image = dataset_->shape.kind == DataShape::Kind::kImage;
  height_ = image ? static_cast<std::size_t>(dataset_->shape.sample[1]) : 1;
  width_ = image ? static_cast<std::size_t>(dataset_->shape.sample[2]) : dataset_->shape.values();
  for (std::size_t c = 0; c < channels_; ++c) {
    for (int byte = 0; byte < 256; ++byte) {
      const float value = static_cast<float>(byte) / 255;
      of_byte_.push_back(normalisation_.mean.empty()
                             ? value
                             : (value - normalisation_.mean[c]) / normalisation_.deviation[c]);
    }
  }
}

void Loader::load(std::span<const SampleId> ids, std::int64_t epoch, Batch& batch) const {
  if (augmentation_.pad == 0 && !augmentation_.flip) return load_plain(ids, batch);
  start(ids, batch);
  const std::size_t values = batch.shape.values();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    Random random(seed_, "augment", ids[i], static_cast<std::uint64_t>(epoch));
    const auto offset = [&] {
      const auto pad = static_cast<std::uint64_t>(augmentation_.pad);
      return static_cast<std::int64_t>(random.below(2 * pad + 1)) - augmentation_.pad;
    };
    // Always as many draws, so that flipping does not depend on padding.
    Window window;
    window.row = offset();
    window.column = offset();
    window.flip = random.below(2) == 1 && augmentation_.flip;
    put_values(ids[i], window, batch.values.data() + i * values);
  }
}

void Loader::load_plain(std::span<const SampleId> ids, Batch& batch) const {
  start(ids, batch);
  const std::size_t values = batch.shape.values();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (batch.shape.kind == DataShape::Kind::kTokens) {
      put_tokens(ids[i], batch.tokens.data() + i * values, batch.labels.data() + i * values);
    } else {
      put_values(ids[i], {}, batch.values.data() + i * values);
    }
  }
}

void Loader::start(std::span<const SampleId> ids, Batch& batch) const {
  const DataShape& shape = dataset_->shape;
  const bool tokens = shape.kind == DataShape::Kind::kTokens;
  batch.shape = shape;
  batch.ids.assign(ids.begin(), ids.end());
  batch.values.resize(tokens ? 0 : ids.size() * shape.values());
  batch.tokens.resize(tokens ? ids.size() * shape.values() : 0);
  batch.labels.resize(ids.size() * shape.labels_per_sample());
  batch.soft.probabilities.clear();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    LOCKSTEP_CHECK(ids[i] < dataset_->samples, "no sample {} in {}", ids[i], dataset_->name);
    if (!tokens) batch.labels[i] = dataset_->labels[ids[i]];
  }
}

void Loader::put_tokens(SampleId id, std::int64_t* tokens, std::int64_t* labels) const {
  const auto& bytes = std::get<AlignedVector<std::uint8_t>>(dataset_->values);
  const std::uint8_t* from = bytes.data() + id * dataset_->stride;
  for (std::size_t j = 0; j < dataset_->shape.values(); ++j) {
    tokens[j] = from[j];
    labels[j] = from[j + 1];
  }
}

void Loader::put_values(SampleId id, const Window& window, float* out) const {
  const auto height = static_cast<std::int64_t>(height_), width = static_cast<std::int64_t>(width_);
  const auto channels = static_cast<std::int64_t>(channels_);
  const auto copy = [&](const auto& values, const auto& convert) {
    const auto* image = values.data() + id * height_ * width_ * channels_;
    for (std::int64_t y = 0; y < height; ++y) {
      const std::int64_t row = y + window.row;
      if (row < 0 || row >= height) {
        std::memset(out, 0, width_ * channels_ * sizeof(float));
        out += width * channels;
        continue;
      }
      for (std::int64_t x = 0; x < width; ++x, out += channels) {
        const std::int64_t column = (window.flip ? width - 1 - x : x) + window.column;
        if (column < 0 || column >= width) {
          std::memset(out, 0, channels_ * sizeof(float));
          continue;
        }
        const auto* pixel = image + (row * width + column) * channels;
        for (std::int64_t c = 0; c < channels; ++c) out[c] = convert(c, pixel[c]);
      }
    }
  };
  if (const auto* bytes = std::get_if<AlignedVector<std::uint8_t>>(&dataset_->values)) {
    copy(*bytes, [&](std::int64_t c, std::uint8_t byte) { return of_byte_[c * 256u + byte]; });
  } else if (const auto& floats = std::get<AlignedVector<float>>(dataset_->values);
             normalisation_.mean.empty()) {
    copy(floats, [](std::int64_t, float value) { return value; });
  } else {
    copy(floats, [&](std::int64_t c, float value) {
      return (value - normalisation_.mean[c]) / normalisation_.deviation[c];
    });
  }
}

}  // namespace lockstep
