#include "lockstep/transport/mpi_keeper.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

#include "lockstep/base/error.h"
#include "lockstep/transport/mpi_session.h"
#include "lockstep/transport/mpi_watch.h"
#include "lockstep/transport/waiter.h"

namespace lockstep {
namespace {

// The text that ps shows is the memory argv points to, which the loader lays out in one piece.
void rename_process(int argc, char** argv, const std::string& name) {
  char* end = argv[0];
  for (int i = 0; i < argc && argv[i] == end; ++i) end += std::strlen(argv[i]) + 1;
  const auto room = static_cast<std::size_t>(end - argv[0]);
  if (room == 0) return;
  std::memset(argv[0], 0, room);
  std::memcpy(argv[0], name.data(), std::min(name.size(), room - 1));
  prctl(PR_SET_NAME, "keeper");
}

// The page that the worker showed, or nothing if it did not come that far.
std::shared_ptr<MpiWindow> shown_page(int from_worker) {
  char byte = 0;
  iovec data{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (recvmsg(from_worker, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) <= 0) return nullptr;
  const cmsghdr* const head = CMSG_FIRSTHDR(&message);
  if (head == nullptr || head->cmsg_type != SCM_RIGHTS) return nullptr;
  int descriptor = -1;
  std::memcpy(&descriptor, CMSG_DATA(head), sizeof descriptor);
  return MpiWindow::adopt(descriptor);
}

// If a run was under way and nobody has ended it yet, ends it on this host: ranks that wait find
// the reason on the board. Returns whether there was one.
bool end_run(int from_worker, const std::string& sentence, const std::string& how, int exit_code) {
  const auto window = shown_page(from_worker);
  if (!window) return false;
  const MpiHostPage page(window);
  const int rank = launched_rank();
  if (page.head().ranks.load() == 0 || rank >= page.processes()) return false;
  StatusBoard board = page.board();
  if (board.failed()) return true;
  // Ranks that were about to wait for the dead one do so by then, and the report says it.
  const timespec settle{0, 50'000'000};
  nanosleep(&settle, nullptr);
  page.board(page.processes()).line(rank).die(how.c_str());
  page.note_exit_code(exit_code);
  const bool prints = page.claim_printing(rank);
  board.fail(sentence + board.report(wall_seconds()));
  if (prints) {
    std::fprintf(stderr, "lockstep: %s\n", board.reason().c_str());
    page.head().printed.store(1);
  }
  // When this process ends, mpirun ends the others: let those that wait tell other hosts first.
  const timespec time{0, page.head().hosts.load() > 1 ? 200'000'000 : 0};
  nanosleep(&time, nullptr);
  return true;
}

std::string host_name() {
  char name[256] = "?";
  gethostname(name, sizeof name - 1);
  return name;
}

[[noreturn]] void keep(pid_t worker, int from_worker, const sigset_t& signals) {
  bool told_to_end = false;
  for (;;) {
    int status = 0;
    if (waitpid(worker, &status, WNOHANG) == worker) {
      const std::string who =
          fmt::format("rank {} (process {} on host {})", launched_rank(), worker, host_name());
      if (WIFEXITED(status)) {
        const int code = WEXITSTATUS(status);
        const std::string how = fmt::format("ended with exit code {}", code);
        if (code != 0 && !told_to_end) end_run(from_worker, who + " " + how, how, code);
        _exit(code);
      }
      const int signal = WTERMSIG(status);
      if (told_to_end) _exit(128 + signal);
      const std::string how = fmt::format("killed by signal {} ({})", signal, strsignal(signal));
      const std::string sentence = who + " was " + how;
      if (!end_run(from_worker, sentence, how, CommError::kExitCode)) {
        std::fprintf(stderr, "lockstep: %s\n", sentence.c_str());
      }
      _exit(CommError::kExitCode);
    }
    siginfo_t info{};
    if (sigwaitinfo(&signals, &info) < 0 || info.si_signo == SIGCHLD) continue;
    told_to_end = true;
    kill(worker, info.si_signo);
  }
}

}  // namespace

void keep_worker(int argc, char** argv) {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    throw CommError("cannot make a socket pair: {}", std::strerror(errno));
  }
  sigset_t signals, before;
  sigemptyset(&signals);
  for (const int signal : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, signal);
  sigprocmask(SIG_BLOCK, &signals, &before);

  const pid_t keeper = getpid();
  const pid_t worker = fork();
  if (worker < 0) throw CommError("cannot start a worker process: {}", std::strerror(errno));
  if (worker > 0) {
    close(sockets[1]);
    rename_process(argc, argv, fmt::format("lockstep: keeper of rank {}", launched_rank()));
    keep(worker, sockets[0], signals);
  }
  close(sockets[0]);
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // nothing is left when the keeper is killed
  if (getppid() != keeper) _exit(CommError::kExitCode);
  be_watched(sockets[1]);
  sigprocmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace lockstep
