// Another program, run beside this one. Arguments reach it as they are: no shell reads them.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

struct ChildOutcome {
  int code = 0;      // 0: it did what it should; 128 + n: ended by signal n
  std::string said;  // why it failed: the last line it wrote, or that it is not installed
};

class Child {
 public:
  // Runs in `folder`. Its output goes to the file `log`, its input is empty.
  Child(std::vector<std::string> command, const std::filesystem::path& folder,
        std::filesystem::path log);
  // Ends it, if it has not ended.
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Nothing while it runs. Does not wait.
  std::optional<ChildOutcome> outcome();
  void signal(int number);

 private:
  ChildOutcome outcome_of(int status) const;

  std::string name_;
  std::filesystem::path log_;
  pid_t process_ = 0;  // 0: it has ended, or was never there
  std::optional<ChildOutcome> outcome_;
};

// A program that finds its parent's number here in its environment ends when that one does.
inline constexpr const char* kEndsWithParent = "LOCKSTEP_ENDS_WITH_PARENT";
void end_with_parent_if_told();

// Waits for its end; `meanwhile` is called about ten times a second.
ChildOutcome run_child(const std::vector<std::string>& command, const std::filesystem::path& folder,
                       const std::filesystem::path& log, const std::function<void()>& meanwhile);

}  // namespace lockstep
