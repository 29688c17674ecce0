// Forward and backward of a batch on the clock of the world. On real worlds time passes by itself.
// On a simulated one the pass is computed first, in no time, and the clock is replayed then: layer
// by layer in the order in which they were finished, so that gradients may leave on the way.
#pragma once

#include <vector>

#include "lockstep/model/replica.h"
#include "lockstep/overlap/overlapped_averaging.h"

namespace lockstep {

class TimedPass {
 public:
  TimedPass(Transport& transport, Replica& replica);
  TimedPass(const TimedPass&) = delete;
  TimedPass& operator=(const TimedPass&) = delete;

  // Takes `slowdown` times as long as it would. Where there is an overlap, layers go to it as they
  // are finished.
  PassResult run(const Batch& batch, float weight, double slowdown, OverlappedAveraging* overlap);
  // When forward was over, in the last run().
  double forward_end() const { return forward_end_; }

  // When backward finishes each layer, in seconds from any moment on. Computes on a real world;
  // gradients are overwritten, everything else is as before.
  std::vector<double> layer_times(const Batch& batch);

 private:
  PassResult run_replayed(const Batch& batch, float weight);
  void on_layer(std::size_t index);
  void charge(double seconds);
  void slow_down();
  // Of one sample, by layer.
  std::vector<double> modelled_backward() const;

  Transport& transport_;
  Replica& replica_;
  LayerReady on_layer_;  // kept, as making one takes memory
  // The pass under way.
  OverlappedAveraging* overlap_ = nullptr;
  double slowdown_ = 1;
  double last_ = 0;  // until when it has been slowed down
  double forward_end_ = 0;
};

}  // namespace lockstep
