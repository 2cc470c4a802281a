// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/trace/trace.hpp"

/// Which lines of a program launch its kernels, by the call stacks of the launches.
namespace mprof {

/// A place in source or machine code.
struct CodePlace {
  std::string function{};    ///< empty: not known
  std::string file{};        ///< of its source; empty: not known
  std::string module{};      ///< the program or library that has it; empty: it is Python's
  std::uint32_t line = 0;    ///< 0: not known
  bool is_gradient = false;  ///< the function is an operation whose gradient PyTorch computes
  [[nodiscard]] bool is_python() const { return module.empty(); }
  bool operator==(const CodePlace&) const = default;
  auto operator<=>(const CodePlace&) const = default;
};

/// What a line of the program launched. Times in ns of kernels, one after the other.
struct LaunchLine {
  CodePlace place;
  std::int64_t time = 0;
  std::uint64_t launches = 0;
  std::vector<std::pair<std::string, std::int64_t>> kernels{};  ///< by function, the longest first
};

/// A frame of a flame graph, or a kernel at its end.
struct Flame {
  CodePlace place;  ///< of a kernel its name alone
  std::int64_t time = 0;
  bool is_kernel = false;
  std::vector<Flame> inner{};  ///< the longest first
};

struct LaunchLines {
  std::vector<LaunchLine> lines{};  ///< the longest first
  Flame flame;                      ///< of all launches with a stack; its own place is empty
  std::int64_t time = 0;            ///< of all kernels
  std::uint64_t launches = 0;
  std::int64_t unknown_time = 0;  ///< of kernels whose launch has no stack
  std::uint64_t unknown_launches = 0;
  /// Of a program with Python: of kernels that threads without Python launched, as PyTorch's autograd does.
  std::int64_t outside_python_time = 0;
  std::uint64_t outside_python_launches = 0;
  std::int64_t gradient_time = 0;  ///< of that, what PyTorch's autograd launched
};

/// Of the kernels of a case that lie in a window. nullopt where no launch has a stack.
[[nodiscard]] std::optional<LaunchLines> launch_lines_of(const trace::Trace& trace, trace::CaseIndex index,
                                                         const trace::Interval& window);

/// Whether a file of Python's is a library's or the language's own, and not the user's.
[[nodiscard]] bool is_library_source(const std::string& file);

}  // namespace mprof
