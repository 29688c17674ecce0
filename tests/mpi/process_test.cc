// What the user of an MPI program sees when it ends: the report, the exit code, and nothing left.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern char** environ;

namespace lockstep {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string command_line(const std::filesystem::path& process) {
  std::ifstream file(process / "cmdline");
  return {std::istreambuf_iterator<char>(file), {}};
}

// mpirun and what it starts; mpirun passes on their output and ends after them.
class Mpirun {
 public:
  explicit Mpirun(std::vector<std::string> command) {
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    if (pipe2(pipe_, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, pipe_[1], 1);
    posix_spawn_file_actions_adddup2(&actions, pipe_[1], 2);
    std::vector<char*> words;
    for (auto& word : command) words.push_back(word.data());
    words.push_back(nullptr);
    began_ = std::chrono::steady_clock::now();
    if (posix_spawn(&process_, words[0], &actions, nullptr, words.data(), environ) != 0) {
      throw std::runtime_error("cannot start " + command[0]);
    }
    posix_spawn_file_actions_destroy(&actions);
    close(pipe_[1]);
  }

  // Reads on until the output has `text` in it, or has ended.
  bool read_until(const std::string& text) {
    char buffer[4096];
    while (text.empty() || output.find(text) == std::string::npos) {
      const ssize_t count = read(pipe_[0], buffer, sizeof buffer);
      if (count <= 0) return false;
      output.append(buffer, static_cast<std::size_t>(count));
    }
    return true;
  }
  void end() {
    read_until("");
    close(pipe_[0]);
    int status = 0;
    waitpid(process_, &status, 0);
    exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  }
  void signal(int number) const { kill(process_, number); }

  std::string output;
  int exit_code = -1;
  double seconds = 0;

 private:
  int pipe_[2];
  pid_t process_ = 0;
  std::chrono::steady_clock::time_point began_;
};

// Processes of a program that were given `argument`.
std::vector<pid_t> processes(const std::string& program, const std::string& argument) {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string line = command_line(entry.path());
    if (line.starts_with(program) && line.find(argument) != std::string::npos) {
      found.push_back(std::stoi(name));
    }
  }
  return found;
}

// `mark` is an argument the victim ignores, by which its processes can be found.
Mpirun started(const std::string& how, const std::string& mark, const std::string& per_host = "") {
  setenv("LOCKSTEP_RANKS_PER_HOST", per_host.c_str(), 1);
  return Mpirun({LOCKSTEP_MPIRUN, "-n", "3", "--oversubscribe", LOCKSTEP_VICTIM, how, mark});
}
Mpirun ended(const std::string& how, const std::string& per_host = "") {
  const std::string mark = "mark-of-" + std::to_string(getpid());
  Mpirun run = started(how, mark, per_host);
  run.end();
  EXPECT_THAT(processes(LOCKSTEP_VICTIM, mark), testing::IsEmpty()) << run.output;
  return run;
}

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(MpiProcess, EndsWellWithoutAWord) {
  const Mpirun run = ended("well");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.output, "ended well\n");
}

TEST(MpiProcess, TimeOutIsReportedOnceWithWhoWaitsForWhom) {
  const Mpirun run = ended("timeout");
  EXPECT_EQ(run.exit_code, 4);
  EXPECT_EQ(count(run.output, "the limit is timeout"), 1) << run.output;
  EXPECT_THAT(run.output, HasSubstr("for rank 1 (receive) in idle talk"));
  EXPECT_THAT(run.output, HasSubstr("for rank 2 (receive) in idle talk"));
  EXPECT_THAT(run.output, HasSubstr("last completed: roll call (number 1)"));
}

TEST(MpiProcess, ExceptionOfOneRankEndsAll) {
  const Mpirun run = ended("throw");
  EXPECT_EQ(run.exit_code, 4);
  EXPECT_EQ(count(run.output, "rank 2 failed: the victim threw this"), 1) << run.output;
  EXPECT_THAT(run.output,
              HasSubstr("rank 2: died: the victim threw this; last completed: roll call"));
}

TEST(MpiProcess, ConfigErrorOfOneRankDecidesTheExitCode) {
  const Mpirun run = ended("config");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.output, HasSubstr("victim: the victim's configuration makes no sense\n"));
}

TEST(MpiProcess, KilledRankIsReportedWhileOthersWait) {
  const Mpirun run = ended("kill");
  EXPECT_EQ(run.exit_code, 4);
  EXPECT_EQ(count(run.output, "rank 2 (process "), 1) << run.output;
  EXPECT_THAT(run.output, HasSubstr("was killed by signal 9 (Killed)\n"));
  EXPECT_THAT(run.output, HasSubstr("rank 2: died: killed by signal 9 (Killed); last completed: "
                                    "roll call (number 1)"));
}

TEST(MpiProcess, KilledRankIsReportedWhileOthersCompute) {
  const Mpirun run = ended("kill-busy");
  EXPECT_EQ(run.exit_code, 4);
  EXPECT_EQ(count(run.output, "was killed by signal 9 (Killed)\n"), 1) << run.output;
  EXPECT_THAT(run.output, HasSubstr("not waiting for anybody"));
}

TEST(MpiProcess, RankThatExitsInARunIsReported) {
  const Mpirun run = ended("exit");
  EXPECT_EQ(run.exit_code, 7);
  EXPECT_EQ(count(run.output, "ended with exit code 7\n"), 1) << run.output;
}

TEST(MpiProcess, KilledRankIsReportedOnItsHostAndAnother) {
  const Mpirun run = ended("kill", "2");
  EXPECT_EQ(run.exit_code, 4);
  EXPECT_THAT(run.output, HasSubstr("was killed by signal 9 (Killed)"));
  EXPECT_THAT(run.output, HasSubstr("for rank 2 (receive) in idle talk"));
}

TEST(MpiProcess, OnlyWorkersLookLikeTheProgram) {
  const std::string mark = "seen-of-" + std::to_string(getpid());
  Mpirun run = started("ready", mark);
  ASSERT_TRUE(run.read_until("ready\n")) << run.output;
  const auto workers = processes(LOCKSTEP_VICTIM, mark);
  EXPECT_EQ(workers.size(), 3u);
  ASSERT_FALSE(workers.empty());
  kill(workers[0], SIGKILL);
  run.end();
  EXPECT_EQ(run.exit_code, 4);
  EXPECT_EQ(count(run.output, "was killed by signal 9 (Killed)\n"), 1) << run.output;
  EXPECT_THAT(processes(LOCKSTEP_VICTIM, mark), testing::IsEmpty());
}

TEST(MpiProcess, InterruptedProgramEndsQuietly) {
  const std::string mark = "stopped-of-" + std::to_string(getpid());
  Mpirun run = started("ready", mark);
  ASSERT_TRUE(run.read_until("ready\n")) << run.output;
  run.signal(SIGINT);
  run.end();
  EXPECT_NE(run.exit_code, 0);
  EXPECT_THAT(run.output, Not(HasSubstr("lockstep:")));
  EXPECT_THAT(run.output, Not(HasSubstr("victim:")));
  EXPECT_THAT(processes(LOCKSTEP_VICTIM, mark), testing::IsEmpty());
}

TEST(MpiProcess, StartsMpirunItself) {
  setenv("LOCKSTEP_RANKS_PER_HOST", "", 1);
  for (const auto& [how, code] : {std::pair{"well", 0}, {"throw", 4}}) {
    Mpirun run({LOCKSTEP_VICTIM, how});
    run.end();
    EXPECT_EQ(run.exit_code, code) << run.output;
  }
}

}  // namespace
}  // namespace lockstep
