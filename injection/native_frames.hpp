// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "injection/python_frames.hpp"

namespace mprof::injection {

/// A stack of machine code.
struct NativeStack {
  std::uint64_t number = 0;               ///< from 1
  std::vector<std::uintptr_t> returns{};  ///< addresses, innermost first
  /// Where on the thread's stack each of these stands. A later call that comes from the same place has the
  /// same stack when the same addresses stand there again.
  std::vector<std::uintptr_t> places{};
};

/// Takes stacks of machine code. Unwinding one costs many microseconds, so that each is unwound once and
/// recognized after that. It needs no frame pointers.
class NativeFrames {
 public:
  /// The stack of the calling thread below this call; nullptr where it is not known. `python`: it ends where
  /// this interpreter calls; nullptr: it is whole.
  const NativeStack* take(const PythonFrames* python);

 private:
  std::mutex mutex_;  ///< of what follows
  std::unordered_map<std::uintptr_t, std::vector<std::unique_ptr<NativeStack>>>
      stacks_{};  ///< by their place, and whether they are whole
  std::uint64_t unwound_ = 0;
  std::uint64_t failures_ = 0;
};

}  // namespace mprof::injection
