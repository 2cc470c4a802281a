// SPDX-License-Identifier: MIT
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace mprof::trace {

/// A frame of a call stack: a function of Python, or of machine code. Texts are indices into Trace::names.
struct StackFrame {
  std::uint32_t function = 0;  ///< 0: not known, here and below
  std::uint32_t module = 0;    ///< the program or library whose machine code it is; 0: it is Python's
  std::uint32_t file = 0;      ///< its source
  std::uint32_t line = 0;
  std::uint64_t address = 0;  ///< in the module
  [[nodiscard]] bool is_python() const { return module == 0; }
  bool operator==(const StackFrame&) const = default;
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the generated comparison with 0 for a pointer
  auto operator<=>(const StackFrame&) const = default;
};

/// An index into Trace::stacks.
using StackIndex = std::uint32_t;
/// The stack of a call whose stack is not known, and the first of Trace::stacks.
inline constexpr StackIndex no_stack = 0;

/// Call stacks, each once: many launches share a few of them. Frames are innermost first. The first stack is
/// empty.
class Stacks {
 public:
  /// The index of a stack, which is added when it is new.
  StackIndex index(const std::vector<StackFrame>& frames);
  [[nodiscard]] std::span<const StackFrame> operator[](StackIndex index) const { return all_[index]->first; }
  [[nodiscard]] std::size_t size() const { return all_.size(); }

  Stacks();
  Stacks(const Stacks& other);
  Stacks(Stacks&&) = default;
  Stacks& operator=(const Stacks& other);
  Stacks& operator=(Stacks&&) = default;
  ~Stacks() = default;

 private:
  using Known = std::map<std::vector<StackFrame>, StackIndex>;
  Known known_{};
  std::vector<Known::const_iterator> all_{};
};

}  // namespace mprof::trace
