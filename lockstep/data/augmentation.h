// What happens to an image on its way into a batch. Keyed by seed, sample and epoch, so a sample
// looks the same whichever worker draws it.
#pragma once

#include <cstdint>
#include <vector>

namespace lockstep {

struct Augmentation {
  int pad = 0;        // zeros around the image, of which a random window is cut
  bool flip = false;  // left and right, for every other sample
};

// Per channel (images) or for all values: (value − mean) / deviation. Empty: as it is; bytes are
// divided by 255 first.
struct Normalisation {
  std::vector<float> mean, deviation;
};

}  // namespace lockstep
