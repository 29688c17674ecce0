// What a server shard does with what workers send: average, update at once, keep clocks. A rule
// owns the shard's slice of the parameters. It is handed one message at a time and may answer
// whomever it has not answered yet, now or when a later message comes.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "lockstep/base/error.h"
#include "lockstep/base/layer.h"
#include "lockstep/base/state.h"
#include "lockstep/optim/optimizer.h"
#include "lockstep/server/message.h"

namespace lockstep {

// A shard as its rule finds it.
struct ShardSetup {
  int shard = 0;
  int workers = 1;
  std::span<const float> params;         // the slice, as training begins
  std::vector<Layer> layers;             // of the slice
  std::unique_ptr<Optimizer> optimizer;  // prepared for these layers
};

// Sends answers. The values are copied; header.form says what they are if they may be compressed.
class Answer {
 public:
  virtual ~Answer() = default;
  virtual void operator()(int worker, ServerHeader header, std::span<const float> values) const = 0;
  // The same change to several workers, who all get the same bits of it.
  virtual void to_all(const std::vector<int>& workers, const ServerHeader& header,
                      std::span<const float> values) const = 0;
};

class ShardRule {
 public:
  virtual ~ShardRule() = default;
  // `values` are valid during the call. Throws a CommError for what makes no sense.
  virtual void handle(const ServerHeader& header, std::span<const float> values,
                      const Answer& answer) = 0;
  virtual void state(StateVisitor& visitor) = 0;

 protected:
  // What to throw at a message that the rule has no answer to.
  static CommError cannot_answer(const ServerHeader& header);
};

}  // namespace lockstep
