#include "lockstep/base/timeline.h"

namespace lockstep {

const char* name_of(Activity activity) {
  static constexpr const char* kNames[kActivities] = {"load", "forward", "backward", "average",
                                                      "wait", "update",  "bucket",   "validate",
                                                      "save", "idle"};
  const auto index = static_cast<std::uint32_t>(activity);
  return index < kActivities ? kNames[index] : "unknown";
}

}  // namespace lockstep
