// Runs the program as a user would.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

namespace lockstep {

struct Outcome {
  int code = -1;
  std::string text;  // standard output, and standard error unless it was dropped
};

inline Outcome lockstep(const std::string& arguments, const std::string& redirect = "2>&1") {
  const std::string command =
      "exec '" + std::string(LOCKSTEP_PROGRAM) + "' " + arguments + " " + redirect + " </dev/null";
  Outcome outcome;
  FILE* pipe = popen(command.c_str(), "r");
  std::array<char, 4096> buffer;
  while (const std::size_t n = fread(buffer.data(), 1, buffer.size(), pipe)) {
    outcome.text.append(buffer.data(), n);
  }
  const int status = pclose(pipe);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

// A wrong input ends with its code and one sentence that says what is wrong and what is allowed.
inline void expect_refused(const std::string& arguments, const std::string& wrong,
                           const std::string& allowed, int code = 2) {
  const Outcome outcome = lockstep(arguments);
  EXPECT_EQ(outcome.code, code) << arguments;
  EXPECT_THAT(outcome.text, testing::AllOf(testing::HasSubstr(wrong), testing::HasSubstr(allowed)))
      << arguments;
  EXPECT_THAT(outcome.text, testing::AllOf(testing::Not(testing::HasSubstr("terminate")),
                                           testing::Not(testing::HasSubstr("internal error"))));
}

}  // namespace lockstep
