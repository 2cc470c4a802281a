// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

namespace mprof::injection {

/// Copies memory of this process. False, and no fault, where nothing is mapped. Costs a system call.
[[nodiscard]] bool read_memory(std::uintptr_t from, void* to, std::size_t size);

/// The part of the calling thread's stack that is in use, from the function that asks on; both 0 where it is
/// not known, as on a stack that the program made itself.
struct StackRange {
  std::uintptr_t low = 0;
  std::uintptr_t high = 0;
  [[nodiscard]] bool holds(std::uintptr_t at, std::size_t size) const {
    return at >= low && at < high && size <= high - at;
  }
};
[[nodiscard]] StackRange used_stack();

}  // namespace mprof::injection
