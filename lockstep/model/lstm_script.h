// The trained LSTM as TorchScript: a module for torch.jit.load with the weights under the names of
// torch.nn.Embedding, LSTM and Linear.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lockstep/model/flat_module.h"

namespace lockstep {

struct LstmShape {
  bool tokens = false;  // reads whole numbers, predicts at every position
  bool image = false;   // reads {channels, height, width} row by row
  std::int64_t vocabulary = 0, features = 0, hidden = 0, layers = 0, classes = 0;
};

// `parameters`: "embedding.weight" (tokens only), "lstm.…" as torch orders them, "head.weight",
// "head.bias".
void save_lstm(const std::string& path, const LstmShape& shape,
               const std::vector<NamedTensor>& parameters);

}  // namespace lockstep
