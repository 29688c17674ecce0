// Calls into SimGrid from an actor. During any of them other actors may run, on the same thread.
// C++ keeps the exceptions that a thread has in flight in one place a thread, so an actor that
// calls from a catch block, or from a destructor while an exception passes, must take its own
// along: otherwise another actor's catch would end up with them.
#pragma once

#include <cxxabi.h>

#include <cstring>
#include <utility>

namespace lockstep {

// `call` must not throw; nothing that we ask of SimGrid does, as nothing is cancelled or breaks.
template <typename Call>
void simcall(Call&& call) {
  // As the C++ ABI lays it out: the caught exceptions, and how many are not caught yet.
  struct Exceptions {
    void* caught = nullptr;
    unsigned int uncaught = 0;
  };
  void* const place = abi::__cxa_get_globals();
  const Exceptions none;
  Exceptions mine;
  std::memcpy(&mine, place, sizeof mine);
  std::memcpy(place, &none, sizeof none);
  std::forward<Call>(call)();
  // SimGrid may resume an actor on another thread only if told to; we do not.
  std::memcpy(place, &mine, sizeof mine);
}

}  // namespace lockstep
