// Another program, run to its end. Arguments reach it as they are: no shell reads them.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace lockstep {

struct ChildOutcome {
  int code = 0;      // 0: it did what it should
  std::string said;  // why it failed: the last line it wrote, or that it is not installed
};

// Runs in `folder`; `meanwhile` is called about ten times a second until it has ended. Its output
// goes to the file `log`, its input is empty.
ChildOutcome run_child(const std::vector<std::string>& command, const std::filesystem::path& folder,
                       const std::filesystem::path& log, const std::function<void()>& meanwhile);

}  // namespace lockstep
