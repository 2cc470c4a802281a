// SPDX-License-Identifier: MIT
#include "report/wording/slow_steps.hpp"

#include <vector>

#include <fmt/format.h>

#include "report/text/format.hpp"

namespace mprof {
namespace {

using SlowWhat = SlowCause::What;

/// ", in poll"; "" where the name is not known.
std::string in_call(const SlowCause& cause) {
  return cause.name.empty() ? "" : ", in " + format::one_line(cause.name);
}

/// ", in the range load"; "" where it is in none.
std::string in_range(const SlowCause& cause) {
  return cause.range.empty() ? "" : ", in the range " + format::one_line(cause.range);
}

/// " (3 calls more than usual)"
std::string more_calls(const SlowCause& cause) {
  return cause.count == 0 ? "" : fmt::format(" ({} more than usual)", format::plural(cause.count, "call"));
}

std::string host_text(const SlowCause& cause) {
  constexpr double most = 0.5;
  std::string text = "the host's own code" + in_range(cause);
  if (static_cast<double>(cause.pause) >= most * static_cast<double>(cause.more))
    text += fmt::format(" (no CUDA call for {} at a time)", format::nanoseconds(cause.pause));
  return text;
}

/// "[CUDA memcpy Device-to-Host], 240 MB more"
std::string copies_text(const SlowCause& cause) {
  const std::string bytes = cause.bytes > 0 ? format::about(cause.bytes, Unit::byte) + " more than usual"
                                            : "no more bytes than usual";
  return fmt::format("copies that no kernel runs beside, most of all {} with {}",
                     format::one_line(cause.name), bytes);
}

std::string cause_text(const SlowCause& cause) {
  const std::string name = format::one_line(cause.name);
  switch (cause.what) {
    case SlowWhat::recording:
      return "the profiler itself" + (name.empty() ? "" : " (" + name + ")");
    case SlowWhat::compiling:
      return "the driver, which compiles kernels" + in_range(cause);
    case SlowWhat::loading_code:
      return "CUDA, which loads code" + in_call(cause) + more_calls(cause) + in_range(cause);
    case SlowWhat::collecting_garbage:
      return "garbage collection, in the range " + name;
    case SlowWhat::loader:
      return "waiting for the loader" + in_call(cause) + in_range(cause);
    case SlowWhat::system:
      return "the operating system" + in_call(cause) + in_range(cause);
    case SlowWhat::waiting:
      return "a call that waits for the GPU" + in_call(cause) + more_calls(cause) + in_range(cause);
    case SlowWhat::drained:
      return fmt::format("launching again after the host waited for the GPU{}{}{}", in_call(cause),
                         more_calls(cause), in_range(cause));
    case SlowWhat::allocating:
      return "allocating or freeing memory" + in_call(cause) + more_calls(cause) + in_range(cause);
    case SlowWhat::calling:
      return "calls of CUDA" + (name.empty() ? "" : ", most of all " + name) + more_calls(cause) +
             in_range(cause);
    case SlowWhat::host:
      return host_text(cause);
    case SlowWhat::larger_grids:
      return fmt::format("kernels with more blocks than usual, most of all {}", name);
    case SlowWhat::more_kernels:
      return cause.count == 1 ? "one more kernel than usual, " + name
                              : fmt::format("{} more kernels than usual, most of all {}",
                                            format::count(cause.count), name);
    case SlowWhat::all_kernels:
      return fmt::format(
          "all kernels alike, which take {} as long: a lower clock does that, or another "
          "process on the GPU",
          format::times(cause.factor));
    case SlowWhat::some_launches:
      return fmt::format(
          "single launches that take much longer than others of the same kernels{}: another "
          "process that takes turns on the GPU does that",
          name.empty() ? "" : ", most of all one of " + name);
    case SlowWhat::one_kernel:
      return fmt::format("the kernel {}, which takes {} as long", name, format::times(cause.factor));
    case SlowWhat::kernels:
      return "kernels";
    case SlowWhat::copies:
      return copies_text(cause);
  }
  return "";
}

}  // namespace

std::string slow_step_text(const SlowStep& slow) {
  std::string text = fmt::format("Step {} took {}, {} more than the median.", slow.step + 1,
                                 format::nanoseconds(slow.pace), format::nanoseconds(slow.more));
  if (slow.causes.empty()) return text + " No part of it stands out.";
  for (std::size_t i = 0; i < slow.causes.size(); ++i)
    text += fmt::format(" {}: {}, {} longer.", i == 0 ? "What differs" : "And", cause_text(slow.causes[i]),
                        format::nanoseconds(slow.causes[i].more));
  return text;
}

std::string_view slow_step_cause(const SlowStep& slow) {
  if (slow.causes.empty()) return "";
  switch (slow.causes.front().what) {
    case SlowWhat::recording:
      return "the profiler itself";
    case SlowWhat::compiling:
      return "compiling";
    case SlowWhat::loading_code:
      return "loading code";
    case SlowWhat::collecting_garbage:
      return "garbage collection";
    case SlowWhat::loader:
      return "the loader";
    case SlowWhat::system:
      return "the operating system";
    case SlowWhat::waiting:
    case SlowWhat::drained:
      return "waiting for the GPU";
    case SlowWhat::allocating:
      return "memory";
    case SlowWhat::calling:
      return "calls of CUDA";
    case SlowWhat::host:
      return "the host's own code";
    case SlowWhat::larger_grids:
    case SlowWhat::more_kernels:
      return "more work";
    case SlowWhat::all_kernels:
      return "all kernels slower";
    case SlowWhat::some_launches:
      return "single launches";
    case SlowWhat::one_kernel:
      return "one kernel";
    case SlowWhat::kernels:
      return "kernels";
    case SlowWhat::copies:
      return "copies";
  }
  return "";
}

}  // namespace mprof
