// A program as a user's would be, which ends in the way its first argument says. process_test.cc
// starts it under mpirun and looks at what the user would see.
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "lockstep/base/error.h"
#include "lockstep/transport/mpi_keeper.h"
#include "lockstep/transport/mpi_launch.h"
#include "lockstep/transport/mpi_session.h"
#include "lockstep/transport/world.h"

namespace lockstep {
namespace {

using Byte = std::array<std::byte, 1>;

// All ranks have come when rank 0 has heard of each and each of rank 0.
void barrier(Transport& transport) {
  const Operation operation(transport, "roll call");
  Byte byte{};
  for (int rank = 1; rank < transport.size(); ++rank) {
    if (transport.rank() == 0) {
      auto here = transport.irecv(rank, 1, byte);
      transport.wait(here);
      auto go = transport.isend(rank, 2, byte);
      transport.wait(go);
    } else if (transport.rank() == rank) {
      auto here = transport.isend(0, 1, byte);
      transport.wait(here);
      auto go = transport.irecv(0, 2, byte);
      transport.wait(go);
    }
  }
}

// Everybody waits for the next rank's message, which never comes.
void wait_for_ever(Transport& transport) {
  const Operation operation(transport, "idle talk");
  Byte byte{};
  auto request = transport.irecv((transport.rank() + 1) % transport.size(), 3, byte);
  transport.wait(request);
}

[[noreturn]] void compute_for_ever() {
  for (;;) pause();
}

void body(Transport& transport, std::string_view how) {
  barrier(transport);
  const bool last = transport.rank() == transport.size() - 1;
  if (how == "well") return;
  if (how == "config" && last) throw ConfigError("the victim's configuration makes no sense");
  if (how == "throw" && last) throw std::runtime_error("the victim threw this");
  if (how == "kill" && last) raise(SIGKILL);
  if (how == "kill-busy" && last) raise(SIGKILL);
  if (how == "exit" && last) _exit(7);
  if (how == "kill-busy") compute_for_ever();
  if (how == "ready") {
    if (transport.rank() == 0) {
      std::puts("ready");
      std::fflush(stdout);
    }
    if (last) compute_for_ever();
  }
  wait_for_ever(transport);
}

int run(std::string_view how) {
  auto& registry = Registry<World>::instance();
  Options options = registry.options("mpi");
  // Long where the run must not end by it.
  options.set_value("timeout", how == "timeout" ? 1.0 : 60.0);
  const auto world = registry.make("mpi", options);
  try {
    world->run(world->most_ranks(), [&](Transport& transport) { body(transport, how); });
    if (world->leads()) std::puts("ended well");
    return 0;
  } catch (const Error& error) {
    if (world->leads()) std::fprintf(stderr, "victim: %s\n", error.what());
    mpi_leave(error.exit_code());
  }
}

}  // namespace
}  // namespace lockstep

int main(int argc, char** argv) {
  if (!lockstep::started_by_mpi()) return lockstep::run_under_mpirun(2, argc, argv);
  lockstep::keep_worker(argc, argv);
  return lockstep::run(argc > 1 ? argv[1] : "well");
}
