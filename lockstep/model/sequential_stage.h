// A user's torch::nn::Sequential, cut between its children.
#pragma once

#include <torch/torch.h>

#include <memory>
#include <vector>

#include "lockstep/model/module_stage.h"
#include "lockstep/model/replica.h"

namespace lockstep::detail {

std::vector<ModelUnit> sequential_units(torch::nn::SequentialImpl& whole,
                                        const ModelSettings& settings);
// Keeps the children of some units of `whole`; the others go with it.
std::unique_ptr<Stage> sequential_stage(torch::nn::SequentialImpl& whole,
                                        const ModelSettings& settings, Range units);

}  // namespace lockstep::detail
