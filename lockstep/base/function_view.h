// A function that is only called while somebody else keeps it: a parameter, not a member. Unlike
// std::function it never allocates, whatever a lambda has captured.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace lockstep {

template <typename Signature>
class FunctionView;

template <typename Result, typename... Arguments>
class FunctionView<Result(Arguments...)> {
 public:
  FunctionView() = default;  // none: false

  template <typename Callable>
  requires(!std::is_same_v<std::remove_cvref_t<Callable>, FunctionView> &&
           std::is_invocable_r_v<Result, Callable&, Arguments...>)
      FunctionView(Callable&& callable)  // NOLINT(google-explicit-constructor): lambdas become one
      : callable_(const_cast<void*>(static_cast<const void*>(std::addressof(callable)))),
        call_([](void* target, Arguments... arguments) -> Result {
          return (*static_cast<std::remove_reference_t<Callable>*>(target))(
              std::forward<Arguments>(arguments)...);
        }) {}

  explicit operator bool() const { return call_ != nullptr; }
  Result operator()(Arguments... arguments) const {
    return call_(callable_, std::forward<Arguments>(arguments)...);
  }

 private:
  void* callable_ = nullptr;
  Result (*call_)(void*, Arguments...) = nullptr;
};

}  // namespace lockstep
