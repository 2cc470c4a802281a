// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>

#include <mprof/variant.hpp>
#include <ucontext.h>
#include <unistd.h>

/// What a student's function was about to touch when it ended its process.
namespace mprof::course {

/// An array that the function is given: `images` of so many bytes; 0: it has no images.
struct Extent {
  const char* name = "";
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  std::size_t image_bytes = 0;
};

/// While it lives, a memory fault names the array that it lies behind, as the last words of the process. The
/// process then ends as it would have.
class FaultWords {
 public:
  FaultWords(const plugin::Task& task, const char* function) {
    const std::size_t batch = task.size("batch");
    const auto extent = [&](const char* name, const float* data, std::size_t elements, std::size_t images) {
      const auto begin = reinterpret_cast<std::uintptr_t>(data);
      const std::size_t bytes = elements * sizeof(float);
      return Extent{name, begin, begin + bytes, images == 0 ? 0 : bytes / images};
    };
    current() = {function,
                 batch,
                 {extent("its output", task.output(), task.output_elements(), batch),
                  extent("its images", task.input(0), task.input_elements(0), batch),
                  extent("its masks", task.input(1), task.input_elements(1), 0)}};
    struct sigaction action {};
    action.sa_sigaction = tell;
    action.sa_flags = SA_SIGINFO | SA_RESETHAND;
    ::sigaction(SIGSEGV, &action, &before_);
  }
  ~FaultWords() { ::sigaction(SIGSEGV, &before_, nullptr); }
  FaultWords(const FaultWords&) = delete;
  FaultWords& operator=(const FaultWords&) = delete;

 private:
  struct Current {
    const char* function = "";
    std::size_t batch = 0;
    std::array<Extent, 3> arrays{};
  };

  static Current& current() {
    static Current one;
    return one;
  }

  static bool is_write(const void* context) {
#ifdef __x86_64__
    constexpr long long writes = 2;
    return (static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] & writes) != 0;
#else
    return context == nullptr;
#endif
  }

  /// The array that ends closest before the address; only the output is written to.
  static const Extent* behind(std::uintptr_t address, bool write) {
    constexpr std::uintptr_t far = std::uintptr_t{1} << 36U;  // B
    const Extent* closest = nullptr;
    for (const Extent& one : current().arrays) {
      const bool is_output = &one == &current().arrays.front();
      if (address < one.end || address - one.end > far || is_output != write) continue;
      if (closest == nullptr || one.end > closest->end) closest = &one;
    }
    return closest;
  }

  static void tell(int /*signal*/, siginfo_t* info, void* context) {
    const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
    const bool write = is_write(context);
    const Extent* const array = behind(address, write);
    if (array == nullptr) return;  // the fault comes again, and ends the process
    std::array<char, 256> text{};
    const char* const does = write ? "wrote" : "read";
    int length = 0;
    if (array->image_bytes == 0)
      length = std::snprintf(text.data(), text.size(), "%s() %s behind the end of %s\n", current().function,
                             does, array->name);
    else
      length = std::snprintf(text.data(), text.size(),
                             "%s() %s behind the end of %s, where image %zu would be, and the batch has %zu: "
                             "does the source fix the number of images?\n",
                             current().function, does, array->name,
                             (address - array->begin) / array->image_bytes, current().batch);
    if (length > 0) static_cast<void>(!::write(STDERR_FILENO, text.data(), static_cast<std::size_t>(length)));
  }

  struct sigaction before_ {};
};

}  // namespace mprof::course
