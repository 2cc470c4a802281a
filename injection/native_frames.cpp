// SPDX-License-Identifier: MIT
#include "injection/native_frames.hpp"

#include <cstring>

#include <unwind.h>

#include "injection/own_memory.hpp"

namespace mprof::injection {
namespace {

constexpr std::size_t most_frames = 128;
constexpr std::size_t most_of_a_place = 64;  // stacks that begin at the same place
constexpr std::uint64_t most_stacks = 50'000;
constexpr std::uint64_t most_failures = 1000;  // stacks that could not be recognized, each unwound in vain

#if defined(__x86_64__)
constexpr bool can_recognize = true;  // a call leaves its return address right below the caller's frame
#else
constexpr bool can_recognize = false;
#endif

bool holds(std::uintptr_t place, std::uintptr_t address) {
  std::uintptr_t there = 0;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address on the thread's own stack, as was checked
  std::memcpy(&there, reinterpret_cast<const void*>(place), sizeof there);
  return there == address;
}

bool is_again(const NativeStack& stack, const StackRange& used) {
  for (std::size_t i = 0; i < stack.places.size(); ++i) {
    if (!used.holds(stack.places[i], sizeof(std::uintptr_t)) || !holds(stack.places[i], stack.returns[i]))
      return false;
  }
  return true;
}

struct Unwinding {
  NativeStack& stack;
  const PythonFrames* python;
  StackRange used;
  std::uintptr_t begin;  ///< of the frames that are told
  bool is_recognizable = true;
};

_Unwind_Reason_Code add_frame(_Unwind_Context* context, void* user) {
  auto& unwinding = *static_cast<Unwinding*>(user);
  NativeStack& stack = unwinding.stack;
  const std::uintptr_t address = _Unwind_GetIP(context);
  if (address == 0 || stack.returns.size() >= most_frames ||
      (unwinding.python != nullptr && unwinding.python->is_in_interpreter(address)))
    return _URC_END_OF_STACK;
  const std::uintptr_t place = _Unwind_GetCFA(context) - sizeof address;
  if (place < unwinding.begin) return _URC_NO_REASON;  // of the functions that unwind, which return first
  if (!unwinding.used.holds(place, sizeof address) || !holds(place, address)) {
    unwinding.is_recognizable = false;
    return _URC_END_OF_STACK;
  }
  stack.returns.push_back(address);
  stack.places.push_back(place);
  return _URC_NO_REASON;
}

}  // namespace

__attribute__((noinline)) const NativeStack* NativeFrames::take(const PythonFrames* python) {
  const StackRange used = used_stack();
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  if (!can_recognize || !used.holds(here, 1)) return nullptr;
  const std::lock_guard lock(mutex_);
  std::vector<std::unique_ptr<NativeStack>>& known = stacks_[here + (python != nullptr ? 1 : 0)];
  for (const auto& stack : known) {
    if (is_again(*stack, used)) return stack.get();
  }
  if (known.size() >= most_of_a_place || unwound_ >= most_stacks || failures_ >= most_failures)
    return nullptr;
  auto stack = std::make_unique<NativeStack>();
  Unwinding unwinding{*stack, python, used, here};
  (void)::_Unwind_Backtrace(add_frame, &unwinding);
  if (!unwinding.is_recognizable || stack->returns.empty()) {
    ++failures_;
    return nullptr;
  }
  stack->number = ++unwound_;
  known.push_back(std::move(stack));
  return known.back().get();
}

}  // namespace mprof::injection
