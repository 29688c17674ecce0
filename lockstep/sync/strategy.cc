#include "lockstep/sync/strategy.h"

namespace lockstep {

template <>
Registry<SyncStrategy>& Registry<SyncStrategy>::instance() {
  static Registry<SyncStrategy> registry("sync", "synchronization strategy");
  return registry;
}

}  // namespace lockstep
