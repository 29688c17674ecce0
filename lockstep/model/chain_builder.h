// Builds a network layer by layer and keeps track of the shape in between, so that a network's file
// says only what is special about it.
#pragma once

#include "lockstep/model/layers.h"
#include "lockstep/model/norm.h"

namespace lockstep {

class ChainBuilder {
 public:
  // `network` names it in errors.
  ChainBuilder(ParameterStore& parameters, const ModelSettings& settings, std::string network);

  ChainBuilder& flatten();
  ChainBuilder& linear(const std::string& name, std::int64_t out, bool relu);
  ChainBuilder& dropout(const std::string& name, double probability);
  // The bias of a convolution is that of the normalisation after it.
  ChainBuilder& convolution(const std::string& name, std::int64_t channels, int kernel,
                            int padding);
  ChainBuilder& norm(const std::string& name, NormShape shape);
  ChainBuilder& max_pool(int size);
  ChainBuilder& average_pool(int size);
  ChainBuilder& global_pool();
  ChainBuilder& residual_block(const std::string& name, std::int64_t channels, int stride,
                               NormShape norm);
  // The last layer: a value a class.
  std::vector<LayerPointer> classifier(const std::string& name);

  NormShape batch_norm() const;  // as the run asks for it

 private:
  void need_image(const std::string& layer) const;
  void need_size(const std::string& layer, std::int64_t size) const;

  ParameterStore& parameters_;
  const ModelSettings& settings_;
  std::string network_;
  std::vector<LayerPointer> layers_;
  bool image_ = false;
  ImageShape shape_;           // of an image
  std::int64_t features_ = 0;  // of a vector
};

}  // namespace lockstep
