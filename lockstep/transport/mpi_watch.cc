#include "lockstep/transport/mpi_watch.h"

#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <string>
#include <thread>

#include "lockstep/base/error.h"
#include "lockstep/transport/mpi_session.h"
#include "lockstep/transport/waiter.h"

namespace lockstep {
namespace {

constexpr double kQuietAfter = 0.1;    // seconds in which a dead rank shows, if there is one
constexpr double kReportWithin = 0.4;  // seconds for a report on its way to be printed

int keeper_socket = -1;
int signal_pipe[2] = {-1, -1};
std::atomic<bool> watching{false};

void on_signal(int signal) {
  if (!watching.load()) _exit(128 + signal);
  const int error = errno;
  const char byte = static_cast<char>(signal);
  [[maybe_unused]] const ssize_t written = write(signal_pipe[1], &byte, 1);
  errno = error;
}

void nap() {
  const timespec time{0, 2'000'000};
  nanosleep(&time, nullptr);
}

int failure_code(const MpiHostPage& page) {
  const int code = page.head().exit_code.load();
  return code == 0 ? CommError::kExitCode : code;
}

// A process of this host that is gone in the middle of a run, or −1.
int dead_process(const MpiHostPage& page) {
  for (int p = 0; p < page.processes(); ++p) {
    const int id = page.process(p).id.load();
    if (id != 0 && kill(id, 0) != 0 && errno == ESRCH) return p;
  }
  return -1;
}

void fail(const MpiHostPage& page, const std::string& reason) {
  StatusBoard board = page.board();
  page.note_exit_code(CommError::kExitCode);
  board.fail(reason + board.report(wall_seconds()));
}

void print_reason(const MpiHostPage& page, int process) {
  if (!page.claim_printing(process)) return;
  const std::string text = fmt::format("lockstep: {}\n", page.board().reason());
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
  page.head().printed.store(1);
}

// Somebody ends this process from outside. Mostly because a rank has failed: then the main thread
// may be about to report it, or somebody else of this host, or nobody because all are computing.
[[noreturn]] void end_by_signal(MpiSession& session, int signal) {
  const MpiHostPage& page = session.page();
  // The user wants the end: nothing to tell, also not when others see this process gone.
  if (signal == SIGINT) page.head().interrupted.store(1);
  if (page.head().interrupted.load() != 0 || page.head().ranks.load() == 0) _exit(128 + signal);
  const double began = wall_seconds();
  for (double waited = 0; waited < kReportWithin; waited = wall_seconds() - began) {
    if (page.head().printed.load() != 0) _exit(failure_code(page));
    if (page.head().interrupted.load() != 0) _exit(128 + signal);
    if (!page.board().failed()) {
      if (const int dead = dead_process(page); dead >= 0) {
        // It may be gone because it saw before this one that the user wants the end.
        if (page.head().interrupted.load() != 0) _exit(128 + signal);
        const std::string how = fmt::format("process {} is gone", page.process(dead).id.load());
        page.board(page.processes()).line(dead).die(how.c_str());
        fail(page, fmt::format("rank {} has died: {}", dead, how));
        break;
      }
      // Nothing failed here. On one host that means somebody wanted the end: nothing to tell.
      if (session.hosts() == 1 && waited > kQuietAfter) {
        page.head().interrupted.store(1);
        _exit(128 + signal);
      }
    }
    nap();
  }
  if (!page.board().failed()) {
    fail(page,
         "ended from outside: a rank on another host has failed, or somebody stopped the run");
  }
  print_reason(page, session.process());
  _exit(failure_code(page));
}

void show_page(int descriptor) {
  char byte = 0;
  iovec data{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* const head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(head), &descriptor, sizeof descriptor);
  sendmsg(keeper_socket, &message, MSG_NOSIGNAL);
}

}  // namespace

void be_watched(int to_keeper) {
  keeper_socket = to_keeper;
  if (pipe(signal_pipe) != 0) throw CommError("cannot make a pipe: {}", std::strerror(errno));
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaction(signal, &action, nullptr);
}

void watch_for_the_end(MpiSession& session, int page_descriptor) {
  if (keeper_socket < 0) return;
  show_page(page_descriptor);
  std::thread([&session] {
    char byte = 0;
    while (read(signal_pipe[0], &byte, 1) != 1) {
    }
    end_by_signal(session, byte);
  }).detach();
  watching.store(true);
}

void end_after_report(MpiSession& session, int exit_code) {
  const MpiHostPage& page = session.page();
  const int printer = page.head().printer.load();
  if (printer == session.process() + 1) {
    page.head().printed.store(1);
  } else if (printer != 0) {
    const double began = wall_seconds();
    while (page.head().printed.load() == 0 && wall_seconds() - began < kReportWithin) nap();
  }
  // Who failed only because another rank did ends with the other's code.
  _exit(exit_code == CommError::kExitCode ? failure_code(page) : exit_code);
}

}  // namespace lockstep
