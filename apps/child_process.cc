#include "apps/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "lockstep/base/error.h"
#include "lockstep/base/text.h"

namespace lockstep {
namespace {

std::string last_line(const std::filesystem::path& log) {
  std::ifstream in(log);
  std::string last;
  for (std::string line; std::getline(in, line);) {
    if (!trim(line).empty()) last = trim(line);
  }
  return last;
}

}  // namespace

Child::Child(std::vector<std::string> command, const std::filesystem::path& folder,
             std::filesystem::path log)
    : log_(std::move(log)) {
  LOCKSTEP_CHECK(!command.empty(), "no command");
  name_ = command[0];
  std::vector<char*> arguments;
  for (auto& text : command) arguments.push_back(text.data());
  arguments.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log_.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0644);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  const int error =
      posix_spawnp(&process_, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error == 0) return;
  process_ = 0;
  outcome_ = error == ENOENT
                 ? ChildOutcome{127, fmt::format("{} is not installed", name_)}
                 : ChildOutcome{126, fmt::format("{} does not start: {}", name_, strerror(error))};
}

Child::~Child() {
  if (process_ == 0) return;
  kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
}

void Child::signal(int number) {
  if (process_ != 0) kill(process_, number);
}

std::optional<ChildOutcome> Child::outcome() {
  if (process_ == 0) return outcome_;
  int status = 0;
  const pid_t ended = waitpid(process_, &status, WNOHANG);
  if (ended == process_) {
    outcome_ = outcome_of(status);
  } else if (ended < 0 && errno != EINTR) {
    outcome_ = {125, fmt::format("{} cannot be waited for: {}", name_, strerror(errno))};
  } else {
    return {};
  }
  process_ = 0;
  return outcome_;
}

ChildOutcome Child::outcome_of(int status) const {
  ChildOutcome outcome;
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (outcome.code != 0) {
    const std::string line = last_line(log_);
    outcome.said = line.empty() ? fmt::format("{} ended with code {}", name_, outcome.code)
                   : line.starts_with(name_) ? line
                                             : fmt::format("{}: {}", name_, line);
  }
  return outcome;
}

void end_with_parent_if_told() {
  const char* const given = std::getenv(kEndsWithParent);
  if (given == nullptr) return;
  const std::string parent = given;
  unsetenv(kEndsWithParent);  // programs that this one starts have another parent
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (std::to_string(getppid()) != parent) _exit(128 + SIGKILL);  // it has gone already
}

ChildOutcome run_child(const std::vector<std::string>& command, const std::filesystem::path& folder,
                       const std::filesystem::path& log, const std::function<void()>& meanwhile) {
  Child child(command, folder, log);
  for (;;) {
    const auto outcome = child.outcome();
    meanwhile();
    if (outcome) return *outcome;
    poll(nullptr, 0, 100);
  }
}

}  // namespace lockstep
