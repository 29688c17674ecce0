// The layers a chain is made of; each is explained in its file.
#pragma once

#include <memory>

#include "lockstep/model/layer_op.h"

namespace lockstep {

struct ImageShape {
  std::int64_t channels = 0, height = 0, width = 0;
};

struct ConvolutionShape {
  ImageShape in;
  std::int64_t out_channels = 0;
  int kernel = 3, stride = 1, padding = 1;
  ImageShape out() const;
};

using LayerPointer = std::unique_ptr<LayerOp>;

LayerPointer make_linear(ParameterStore& parameters, const std::string& name, std::int64_t in,
                         std::int64_t out, bool relu);
LayerPointer make_convolution(ParameterStore& parameters, const std::string& name,
                              const ConvolutionShape& shape, Initial initial);
LayerPointer make_max_pool(ParameterStore& parameters, int size);
LayerPointer make_average_pool(ParameterStore& parameters, int size);
LayerPointer make_global_pool(ParameterStore& parameters);
LayerPointer make_dropout(ParameterStore& parameters, const std::string& name, double probability);
LayerPointer make_flatten(ParameterStore& parameters);

}  // namespace lockstep
