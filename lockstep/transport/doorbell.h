// Sleep until somebody rings. One word that may lie in memory shared by threads or by processes.
//
// The sleeper announces itself, looks once more whether what it waits for has happened, and sleeps;
// whoever makes it happen does so first and then looks for sleepers. One of the two sees the other,
// because all four accesses are sequentially consistent; so ringing costs nothing while all spin.
#pragma once

#include <atomic>
#include <cstdint>

namespace lockstep {

class Doorbell {
 public:
  void ring();

  // Call ready() between arm() and sleep(); sleep() only if it said no; disarm() in any case.
  std::uint32_t arm();
  void sleep(std::uint32_t armed, double most_seconds);
  void disarm();

 private:
  std::atomic<std::uint32_t> rings_{0};
  std::atomic<std::uint32_t> sleepers_{0};
};

}  // namespace lockstep
