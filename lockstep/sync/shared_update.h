// The synchronous step of workers that are threads of one process. Their parameters are always
// equal, so one copy is enough; and the update, which is bound by memory, need not be made by each
// of them on all parameters: everybody averages one slice of the gradients, straight from
// everybody's memory, and takes the optimizer's step on that slice, a block at a time, while it is
// in the cache.
//
// The bits are those of the native all-reduce followed by everybody's own update.
#pragma once

#include "lockstep/base/aligned.h"
#include "lockstep/collective/chunks.h"
#include "lockstep/collective/group.h"
#include "lockstep/model/replica.h"
#include "lockstep/optim/optimizer.h"

namespace lockstep {

class SharedUpdate {
 public:
  // Collective. From now on all members' replicas have the parameters of the first. Null where the
  // members do not see each other's memory or a replica cannot share.
  static std::unique_ptr<SharedUpdate> begin(Group& group, Replica& replica,
                                             const Optimizer& optimizer);

  // Collective: averages grads() over the members and updates. Returns the seconds that this member
  // did so, and did not wait.
  double step(std::int64_t index, const Rates& rates, Replica& replica, Optimizer& optimizer);
  // Collective. Each member's optimizer remembers only its own slice; afterwards all of it.
  void complete(Optimizer& optimizer);

 private:
  SharedUpdate(Transport& transport, SharedSpace& space, Range own)
      : transport_(transport), space_(space), own_(own) {}

  Transport& transport_;
  SharedSpace& space_;
  Range own_;
  AlignedVector<float> sum_;  // of a block, kept from step to step
};

}  // namespace lockstep
