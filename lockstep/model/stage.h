// A part of a network between two cuts, seen without torch: takes what the part before it has made
// of a micro-batch and hands on what it makes of it; gradients come back the other way. Several
// micro-batches may be under way.
#pragma once

#include "lockstep/model/flat_model.h"

namespace lockstep {

// A smallest part that a network can be cut into. All have parameters.
struct ModelUnit {
  std::string name;  // of its first layer, without "weight"
  std::size_t params = 0, buffers = 0;
  // Of one sample: floats that the next unit gets, floats kept until backward, and seconds of
  // forward on the reference core (FlatModel::modelled_seconds).
  std::size_t out_values = 0, kept_values = 0;
  double forward_seconds = 0;
};

struct MicroBatch {
  const Batch& batch;    // values count in the first stage, labels in the last
  std::size_t slot = 0;  // where is kept what backward needs; below Stage::make_slots
  float scale = 1;       // of the loss's gradient, for each label
  bool adds = false;     // to the gradients that are there; else they are overwritten
};

class Stage : public FlatModel {
 public:
  // Floats of a sample that come in and go out; 0 in the first and the last stage.
  virtual std::size_t in_values() const = 0;
  virtual std::size_t out_values() const = 0;
  virtual void make_slots(std::size_t count) = 0;
  // Would forward of the same micro-batch give the same again?
  virtual bool repeats() const { return true; }

  // Forward in training mode. `in` stays where it is until backward. The last stage fills no `out`;
  // it gives the loss.
  virtual PassResult forward(const MicroBatch& micro, std::span<const float> in,
                             std::span<float> out) = 0;
  // `out` is the gradient of what forward gave, and is used up; `in` becomes that of what it got.
  // grads() is complete when the last micro-batch has gone back; `on_layer` is for that one.
  virtual void backward(const MicroBatch& micro, std::span<float> out, std::span<float> in,
                        const LayerReady& on_layer) = 0;
  // Forward in evaluation mode; changes nothing.
  virtual PassResult evaluate(const Batch& batch, std::span<const float> in,
                              std::span<float> out) = 0;
};

}  // namespace lockstep
