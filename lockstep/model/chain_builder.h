// Builds a network layer by layer and keeps track of the shape in between, so that a network's file
// says only what is special about it. Of a network that is cut, it builds the units wanted and only
// counts the rest. A unit is a convolution, a linear layer or half a residual block, with what
// comes behind it up to the next.
#pragma once

#include "lockstep/base/range.h"
#include "lockstep/model/activation_shape.h"
#include "lockstep/model/norm.h"
#include "lockstep/model/stage.h"

namespace lockstep {

// As a chain reads a sample of these data.
ActivationShape input_shape(const DataShape& data);

class ChainBuilder {
 public:
  static constexpr Range kAllUnits{0, ~std::size_t{0}};

  // `network` names it in errors. Parameters of the units wanted go to `parameters`.
  ChainBuilder(ParameterStore& parameters, const ModelSettings& settings, std::string network,
               Range wanted = kAllUnits);

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
  // Two units; what is carried around the block is carried over a cut between them.
  ChainBuilder& residual_block(const std::string& name, std::int64_t channels, int stride,
                               NormShape norm);
  // The last layer: a value a class. Gives the layers wanted.
  std::vector<LayerPointer> classifier(const std::string& name);

  NormShape batch_norm() const;  // as the run asks for it

  // Once all layers were added.
  const std::vector<ModelUnit>& units() const { return units_; }
  const ActivationShape& entry(std::size_t unit) const { return entries_[unit]; }

 private:
  void need_image(const std::string& layer) const;
  void need_size(const std::string& layer, std::int64_t size) const;
  void begin_unit(const std::string& name);
  bool wanted() const;      // is the unit?
  ParameterStore& store();  // of the unit
  void count(const LayerOp& layer, const ActivationShape& behind);
  void add(LayerPointer layer, const ActivationShape& behind);
  static ActivationShape of_image(const ImageShape& image) { return {true, image, 0}; }
  static ActivationShape of_vector(std::int64_t features) { return {false, {}, features}; }

  ParameterStore& parameters_;
  std::unique_ptr<ParameterStore> elsewhere_;  // of units that are not wanted
  const ModelSettings& settings_;
  std::string network_;
  Range wanted_;
  std::vector<LayerPointer> layers_;
  std::vector<ModelUnit> units_;
  std::vector<ActivationShape> entries_;  // one a unit
  ActivationShape shape_;                 // where the next layer begins
  std::size_t params_ = 0, buffers_ = 0;  // declared so far
};

}  // namespace lockstep
