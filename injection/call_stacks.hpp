// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

#include "injection/journal_writer.hpp"
#include "injection/native_frames.hpp"
#include "injection/python_frames.hpp"

namespace mprof::injection {

/// Notes from where a process launches kernels: the functions of Python that led there, and below them the
/// machine code. Each distinct stack is written once, and each launch names its own.
class CallStacks {
 public:
  explicit CallStacks(JournalWriter& journal) : journal_(journal) {}

  /// The stack of the calling thread, of the call that has this correlation id. Returns its number; 0: none.
  std::uint32_t take(std::uint32_t correlation);
  /// What is not in the journal yet.
  void write();

 private:
  struct Module {
    std::string path{};
    std::uintptr_t base = 0;         ///< what addresses in the file are less by
    std::string symbol{};            ///< the nearest that the file shows
    bool is_below_launches = false;  ///< of CUDA, or of what watches it
  };

  std::uint32_t number_of(std::span<const PythonFrame> python, const NativeStack* native);
  void add_stack(std::uint64_t number, std::span<const PythonFrame> python, const NativeStack* native);
  static Module module_of(std::uintptr_t address);

  JournalWriter& journal_;
  std::once_flag looked_;
  std::optional<PythonFrames> python_{};
  NativeFrames native_{};
  std::mutex mutex_;                                            ///< of what follows
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_{};  ///< of stacks by their hashes
  std::string launches_{};                                      ///< StackOfLaunches that are not written yet
  bool has_noted_obstacle_ = false;
};

}  // namespace mprof::injection
