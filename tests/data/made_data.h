// Small data sets with contents that a test can predict.
#pragma once

#include <memory>

#include "lockstep/data/dataset.h"

namespace lockstep {

// Images whose byte number i (over the whole set) is i mod 251; sample s has label s mod 10.
inline std::shared_ptr<Dataset> made_images(std::size_t samples, std::int64_t channels,
                                            std::int64_t height, std::int64_t width) {
  auto made = std::make_shared<Dataset>();
  made->name = "made";
  made->shape = {DataShape::Kind::kImage, {channels, height, width}, 10, 0};
  made->samples = made->first_test = samples;
  AlignedVector<std::uint8_t> bytes(samples * made->shape.values());
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i % 251);
  made->values = std::move(bytes);
  for (std::size_t s = 0; s < samples; ++s) made->labels.push_back(static_cast<int>(s % 10));
  return made;
}

}  // namespace lockstep
