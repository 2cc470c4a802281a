// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

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
  /// What is not in the journal yet. Not while something is launched: to name modules it takes the loader's
  /// lock, which another thread may hold while it waits for the launching one.
  void write();

 private:
  struct Module {
    std::string path{};
    std::uintptr_t base = 0;         ///< what addresses in the file are less by
    std::string symbol{};            ///< the nearest that the file shows
    bool is_below_launches = false;  ///< of CUDA, or of what watches it
  };

  /// A stack that is not in the journal yet.
  struct NewStack {
    std::uint64_t number = 0;
    std::vector<PythonFrames::Place> python{};
    const NativeStack* native = nullptr;
  };

  std::uint32_t number_of(std::span<const PythonFrame> python, const NativeStack* native);
  void write(const NewStack& stack);
  void write_launches();
  static Module module_of(std::uintptr_t address);

  JournalWriter& journal_;
  PythonFrames python_{};
  NativeFrames native_{};
  std::mutex mutex_;                                            ///< of what follows
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_{};  ///< of stacks by their hashes
  std::vector<NewStack> new_stacks_{};
  std::string launches_{};  ///< StackOfLaunches that are not written yet
  std::mutex writing_;      ///< of what follows
  bool has_noted_obstacle_ = false;
};

}  // namespace mprof::injection
