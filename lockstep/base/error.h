// The errors a user can meet. Each says what is wrong and what is allowed; the program turns it
// into one sentence and the exit code below, never into a stack trace.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>

namespace lockstep {

class Error : public std::runtime_error {
 public:
  Error(const std::string& message, int exit_code)
      : std::runtime_error(message), exit_code_(exit_code) {}
  int exit_code() const { return exit_code_; }

 private:
  int exit_code_;
};

// What the user asked for makes no sense: unknown names, bad values, a torn configuration.
class ConfigError : public Error {
 public:
  static constexpr int kExitCode = 2;
  template <typename... Args>
  explicit ConfigError(fmt::format_string<Args...> text, Args&&... args)
      : Error(fmt::format(text, std::forward<Args>(args)...), kExitCode) {}
};

// A data file is missing, damaged or not what it says it is.
class DataError : public Error {
 public:
  static constexpr int kExitCode = 3;
  template <typename... Args>
  explicit DataError(fmt::format_string<Args...> text, Args&&... args)
      : Error(fmt::format(text, std::forward<Args>(args)...), kExitCode) {}
};

// Ranks could not talk: a time-out, a rank that died, messages that do not fit together.
class CommError : public Error {
 public:
  static constexpr int kExitCode = 4;
  template <typename... Args>
  explicit CommError(fmt::format_string<Args...> text, Args&&... args)
      : Error(fmt::format(text, std::forward<Args>(args)...), kExitCode) {}
};

// Training itself went wrong: a loss that is no number any more.
class TrainingError : public Error {
 public:
  static constexpr int kExitCode = 5;
  template <typename... Args>
  explicit TrainingError(fmt::format_string<Args...> text, Args&&... args)
      : Error(fmt::format(text, std::forward<Args>(args)...), kExitCode) {}
};

// A broken promise inside Lockstep: our bug, not the user's.
class InternalError : public std::logic_error {
  using std::logic_error::logic_error;
};

namespace detail {
[[noreturn]] void check_failed(const char* file, int line, const char* condition,
                               const std::string& message);
}

// The prefix keeps clear of the CHECK that torch's headers define.
#define LOCKSTEP_CHECK(condition, ...)                                                            \
  do {                                                                                            \
    if (!(condition)) [[unlikely]] {                                                              \
      ::lockstep::detail::check_failed(__FILE__, __LINE__, #condition, fmt::format(__VA_ARGS__)); \
    }                                                                                             \
  } while (false)

}  // namespace lockstep
