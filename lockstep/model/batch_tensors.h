// A batch as torch sees it: tensors over the batch's own memory, nothing copied.
#pragma once

#include <torch/torch.h>

#include <string>

#include "lockstep/data/batch.h"

namespace lockstep {

// Images: {batch, channels, height, width} with the strides of channels-last memory. Vectors:
// {batch, shape of a sample …}. Tokens: {batch, length}, whole numbers.
torch::Tensor input_view(const Batch& batch);
// All labels in a row: {batch × labels per sample}.
torch::Tensor label_view(const Batch& batch);

// A batch of zeros: what a model is tried on before training begins.
Batch blank_batch(const DataShape& shape, std::size_t size);

std::string shape_text(c10::IntArrayRef shape);  // "3×32×32"

}  // namespace lockstep
