#include "lockstep/transport/mpi_launch.h"

#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "lockstep/base/error.h"
#include "lockstep/base/this_program.h"

extern char** environ;

namespace lockstep {
namespace {

std::atomic<pid_t> mpirun_process{0};
std::atomic<int> ended_by{0};

void pass_on(int signal) {
  ended_by = signal;
  if (const pid_t process = mpirun_process.load(); process > 0) kill(process, signal);
}

// Who wants this process to die with its parent means mpirun, too, which has to be told.
void outlive_the_parent_until_mpirun_knows() {
  int signal = 0;
  if (prctl(PR_GET_PDEATHSIG, &signal) == 0 && signal != 0) prctl(PR_SET_PDEATHSIG, SIGTERM);
}

}  // namespace

int run_under_mpirun(int ranks, int argc, char** argv) {
  if (getuid() == 0) {  // Open MPI refuses root unless told twice
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 0);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 0);
  }
  // Not bound: a rank's companions and its model's threads may use idle cores. Quiet: when a run
  // fails the report says why, and mpirun's own page of text only hides it.
  // By its path: mpirun would take /proc/self/exe for itself.
  std::vector<std::string> words{"mpirun",          "--quiet",   "-n",   std::to_string(ranks),
                                 "--oversubscribe", "--bind-to", "none", this_program()};
  words.insert(words.end(), argv + 1, argv + argc);
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  // A Ctrl-C reaches mpirun directly, and this process must live to pass on its exit code. (A
  // handler and not SIG_IGN, which mpirun would inherit.)
  struct sigaction action {};
  action.sa_handler = pass_on;
  action.sa_flags = SA_RESTART;
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGHUP, &action, nullptr);
  action.sa_handler = [](int signal) { ended_by = signal; };
  sigaction(SIGINT, &action, nullptr);
  outlive_the_parent_until_mpirun_knows();

  pid_t process = 0;
  const int error = posix_spawnp(&process, "mpirun", nullptr, nullptr, arguments.data(), environ);
  if (error != 0) {
    throw ConfigError(
        "cannot start mpirun ({}): install Open MPI (Debian: openmpi-bin), or use the "
        "threads world",
        std::strerror(error));
  }
  mpirun_process = process;
  // What came before there was anybody to pass it on to.
  if (const int signal = ended_by; signal == SIGTERM || signal == SIGHUP) kill(process, signal);
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  mpirun_process = 0;
  if (ended_by != 0) return 128 + ended_by;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace lockstep
