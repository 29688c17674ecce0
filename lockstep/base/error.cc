#include "lockstep/base/error.h"

#include <string_view>

namespace lockstep::detail {

void check_failed(const char* file, int line, const char* condition, const std::string& message) {
  std::string_view path = file;
  const auto root = path.rfind("lockstep/");
  if (root != std::string_view::npos) path.remove_prefix(root);
  throw InternalError(
      fmt::format("internal error at {}:{}: {} ({})", path, line, message, condition));
}

}  // namespace lockstep::detail
