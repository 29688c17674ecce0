// What happens to an image on its way into a batch. Keyed by seed, sample and epoch, so a sample
// looks the same whichever worker draws it.
#pragma once

namespace lockstep {

struct Augmentation {
  int pad = 0;        // a border of the mean colour, and a random window cut out of all that
  bool flip = false;  // left and right, for every other sample
};

}  // namespace lockstep
