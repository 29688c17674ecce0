// Copies of models, as they were some steps ago, that predict what another one is to learn.
#pragma once

#include <span>
#include <vector>

#include "lockstep/base/aligned.h"
#include "lockstep/base/state.h"
#include "lockstep/model/replica.h"

namespace lockstep {

// A replica's parameters, then its running statistics.
AlignedVector<float> model_of(Replica& replica);
void put_model(std::span<const float> model, Replica& replica);

class Teachers {
 public:
  // As many copies of the model that the replica holds now.
  void start(Replica& replica, int count);

  int size() const { return static_cast<int>(models_.size()); }
  std::span<float> model(int teacher) { return models_[static_cast<std::size_t>(teacher)]; }

  // Makes the mean of the teachers' softmax(z/T) the soft targets of the batch. The replica serves
  // for it and holds its own model again afterwards.
  void predict(Replica& replica, double temperature, Batch& batch);
  void state(StateVisitor& visitor);

 private:
  std::vector<AlignedVector<float>> models_;
  AlignedVector<float> scores_;  // of one teacher
};

}  // namespace lockstep
