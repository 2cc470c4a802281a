// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "system/clock.hpp"

namespace mprof {

/// A program of the user's that runs as it is, and what is watched of it from outside.
struct ProgramLaunch {
  std::vector<std::string> command{};                 ///< the program's path, and its arguments
  std::map<std::string, std::string> variables{};     ///< set in the environment that mprof was given
  std::filesystem::path folder{};                     ///< that it begins in; empty: this process's
  double time_limit = 0;                              ///< s
  int interrupt_fd = -1;                              ///< becomes readable when it must end; -1: never
  std::function<void(std::string_view)> on_output{};  ///< is given all that it writes, as it comes; or none
  int give_up_fd = -1;  ///< becomes readable when what watches it from inside has stopped it; -1: never
};

/// How a program ended, and what it took until then. CPU times include the program and all of its descendants
/// that were waited for.
struct ProgramEnd {
  enum class How { exited, signalled, time_limit, interrupted, given_up };
  How how = How::exited;
  int code = 0;                                ///< the exit code, or the signal's number
  double seconds = 0;                          ///< s, from its start to its end
  double user_time = 0;                        ///< s
  double system_time = 0;                      ///< s
  std::optional<std::uint64_t> peak_memory{};  ///< B, resident, of the largest of these processes; see below
  std::string output{};                        ///< the end of what it wrote to either stream
  [[nodiscard]] bool succeeded() const { return how == How::exited && code == 0; }
};

/// Runs it to its end. Its standard input is open_standard_input(). What it left running is ended with it; in
/// sessions of their own, where adopt_strays() was called. At the time limit, and when it is interrupted, it
/// is asked to end by SIGTERM, and ended two seconds later.
///
/// Linux counts the memory of whoever starts a program as the program's, so a peak that is not above this
/// process's own is not known.
///
/// Throws Error(usage) when it cannot be started.
[[nodiscard]] ProgramEnd run_to_end(const ProgramLaunch& launch, const Clock& clock);

/// "exit code 3", "signal 11 (Segmentation fault)", "it took longer than ..."
[[nodiscard]] std::string how_it_ended(const ProgramEnd& end, double time_limit);

/// The path of what a shell would run by this word: searched on PATH when it has no slash. Throws
/// Error(usage) that says why it is no program.
[[nodiscard]] std::string program_path(const std::string& word);

}  // namespace mprof
