// How a rank waits: looks a few times, then lets others run, then sleeps; and never for ever.
// With more ranks than cores, whoever spins takes the core from the one it waits for.
#pragma once

#include <functional>
#include <string>

#include "lockstep/base/function_view.h"
#include "lockstep/transport/doorbell.h"
#include "lockstep/transport/status_board.h"
#include "lockstep/transport/transport.h"

namespace lockstep {

// Tells the core that this is a spin loop.
inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Seconds on a clock that all processes of a host share.
double wall_seconds();

struct Patience {
  int spins;                 // looks before the first yield
  int yields;                // yields before the first sleep
  double timeout;            // seconds until the run is given up
  double first_nap = 20e-6;  // seconds; later ones are longer
  // The usual one for that many ranks on a host with that many cores.
  static Patience usual(int ranks, int cores, double timeout);
};

class Waiter {
 public:
  Waiter(StatusBoard& board, int rank, int lane, Patience patience);

  // Returns when ready() says so. `who` tells which rank is waited for. Where there is a bell, it
  // must ring when ready() may have changed; where there is none, naps are short.
  template <typename Ready, typename Who>
  void until(Ready&& ready, Who&& who, const char* what, Doorbell* bell) {
    for (int i = 0; i < patience_.spins; ++i) {
      if (ready()) return;
      relax();
    }
    until_slowly(ready, who, what, bell);
  }

  // Sleeps; messages go on meanwhile, and a failed run ends it.
  void pause(double seconds);

  // Ends the run: writes the reason and what every rank is doing, and throws it.
  [[noreturn]] void fail(const std::string& reason);
  // Throws if somebody has failed.
  void check() const;
  // Whoever asks again and again whether a message is there waits too, and no longer than others:
  // call it when the answer was no. A receive from anybody may stay open for long, for that is a
  // server that looks for work.
  void asked_in_vain(Transfer& transfer, const char* what);

  StatusLine& line() { return line_; }
  StatusBoard& board() { return board_; }

  // Looked at between naps: what else might have ended the run.
  std::function<void()> on_nap;
  // What must go on while this rank waits for a bell: messages it has sent may need it. Where it is
  // set, naps are short.
  std::function<void()> progress;

 private:
  void until_slowly(FunctionView<bool()> ready, FunctionView<int()> who, const char* what,
                    Doorbell* bell);

  StatusBoard& board_;
  StatusLine& line_;
  int rank_;
  Patience patience_;
};

}  // namespace lockstep
