#include "apps/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
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

ChildOutcome run_child(const std::vector<std::string>& command, const std::filesystem::path& folder,
                       const std::filesystem::path& log, const std::function<void()>& meanwhile) {
  LOCKSTEP_CHECK(!command.empty(), "no command");
  std::vector<std::string> texts = command;
  std::vector<char*> arguments;
  for (auto& text : texts) arguments.push_back(text.data());
  arguments.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0644);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  pid_t process = 0;
  const int error =
      posix_spawnp(&process, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error == ENOENT) return {127, fmt::format("{} is not installed", command[0])};
  if (error != 0) return {126, fmt::format("{} does not start: {}", command[0], strerror(error))};

  int status = 0;
  while (true) {
    const pid_t ended = waitpid(process, &status, WNOHANG);
    if (ended == process) break;
    if (ended < 0 && errno != EINTR) {
      return {125, fmt::format("{} cannot be waited for: {}", command[0], strerror(errno))};
    }
    meanwhile();
    poll(nullptr, 0, 100);
  }
  meanwhile();
  ChildOutcome outcome;
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (outcome.code != 0) {
    const std::string line = last_line(log);
    outcome.said = line.empty() ? fmt::format("{} ended with code {}", command[0], outcome.code)
                   : line.starts_with(command[0]) ? line
                                                  : fmt::format("{}: {}", command[0], line);
  }
  return outcome;
}

}  // namespace lockstep
