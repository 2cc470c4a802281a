// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace mprof::injection {

/// Where CPython keeps what a stack needs, in bytes from the beginning of each structure.
struct PythonLayout {
  static constexpr std::size_t none = ~std::size_t{0};
  std::size_t current_frame = 0;  ///< of a thread, or of what `c_frame` points to
  std::size_t c_frame = none;     ///< of a thread
  std::size_t chunk = none;       ///< of a thread: the memory that its frames lie in
  std::size_t previous = 0;       ///< of a frame, as the next three
  std::size_t code = 0;
  std::size_t instruction = 0;
  std::size_t owner = none;
  unsigned char first_foreign = 255;  ///< an owner from here on: a frame of the interpreter's, without code
  std::size_t index_unit = 0;         ///< B: the instruction is an index of these; 0: it is an address
  std::size_t instructions = 0;       ///< of a code object, as the next three
  std::size_t file = 0;
  std::size_t function = 0;
  std::size_t first_line = 0;
  std::size_t type = 8;          ///< of any object
  std::size_t text_length = 16;  ///< of a text, as the next three
  std::size_t text_state = 32;
  std::size_t ascii = 0;
  std::size_t wide = 0;  ///< the same of a text that is not ASCII alone
  bool operator==(const PythonLayout&) const = default;
};

/// The layout of a version, as 0x030B0000; `published`: what the process tells of it, from 3.13 on. nullopt:
/// mprof does not know the version.
[[nodiscard]] std::optional<PythonLayout> python_layout(std::uint32_t version,
                                                        std::span<const std::uint64_t> published);

/// A frame of Python on a thread's stack.
struct PythonFrame {
  std::uintptr_t code = 0;      ///< the code object, which the frame keeps alive
  std::int64_t offset = 0;      ///< B, of the instruction
  std::uintptr_t function = 0;  ///< the code's name and first line: of another code at the same address, they
  std::uint32_t first_line = 0;  ///< are others
  bool operator==(const PythonFrame&) const = default;
};

/// Reads the stacks of CPython's threads without its global lock. The frames of a thread cannot change while
/// the thread is inside a call of C. Nothing is called that takes a lock or a reference.
class PythonFrames {
 public:
  /// Of the interpreter in this process, if there is one.
  PythonFrames();
  /// Of a layout, for tests. `code_type`: the address of the type of code objects.
  PythonFrames(const PythonLayout& layout, std::uintptr_t code_type);

  /// The frames of the calling thread, innermost first, as many as fit. Returns their number: 0 for a thread
  /// that runs no Python.
  std::size_t read(std::span<PythonFrame> frames);
  /// The same of a thread's state.
  std::size_t read(std::uintptr_t thread, std::span<PythonFrame> frames);

  struct Place {
    std::string function{};
    std::string file{};
    std::uint32_t line = 0;  ///< 0: not known
  };
  /// What a frame that was just read is of.
  [[nodiscard]] std::optional<Place> place_of(const PythonFrame& frame) const;

  /// A sentence: why the frames of an interpreter are not read. Empty: they are, or the process has no
  /// interpreter.
  [[nodiscard]] std::string obstacle() const;
  /// Whether an address is in the machine code of the interpreter.
  [[nodiscard]] bool is_in_interpreter(std::uintptr_t address) const {
    return address >= code_begin_ && address < code_end_;
  }

 private:
  enum class State : std::uint8_t { absent, unknown_version, without_lock, unlike, reading };

  void find_code();
  [[nodiscard]] bool is_code(std::uintptr_t address) const;
  [[nodiscard]] std::optional<std::string> text_at(std::uintptr_t address) const;

  PythonLayout layout_{};
  std::atomic<State> state_ = State::absent;
  std::uint32_t version_ = 0;
  std::uintptr_t code_type_ = 0;
  std::uintptr_t code_begin_ = 0;
  std::uintptr_t code_end_ = 0;
  std::atomic<std::uint32_t> checked_ = 0;  ///< stacks that were read by calls that cannot fault
  void* (*this_thread_)() = nullptr;
  int (*is_initialized_)() = nullptr;
  int (*line_of_)(void* code, int offset) = nullptr;
};

}  // namespace mprof::injection
