// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/analysis/analysis.hpp"
#include "report/analysis/evidence.hpp"

/// What is known of a program as a process: its times, the time of CPUs, its memory, and what it waited for.
namespace mprof {

/// Calls of the operating system of one name, on all threads.
struct SystemCalls {
  std::string name{};
  std::uint64_t count = 0;
  std::int64_t time = 0;  ///< ns; threads wait at once, so it may exceed the program's
};

struct ProcessPicture {
  std::vector<double> times{};          ///< s, of each execution without a profiler
  std::optional<double> user{};         ///< s
  std::optional<double> system{};       ///< s
  std::optional<double> cores_busy{};   ///< both over the time
  std::optional<double> peak_memory{};  ///< B, of the largest process
  std::vector<SystemCalls> calls{};     ///< the longest first; empty where none were traced
  Why untraced{};                       ///< why there is no trace, or nothing of the GPU in it

  [[nodiscard]] double median() const;
  [[nodiscard]] double mean() const;
  /// The sample standard deviation; nullopt of one execution.
  [[nodiscard]] std::optional<double> deviation() const;
  [[nodiscard]] double least() const;
  [[nodiscard]] double most() const;
};

/// The case of a program that is alone in its family and ended as it should; nullptr where there is no such
/// case.
[[nodiscard]] const CaseResult* only_process(const FamilyResult& family);

/// `evidence` may be nullptr: then nothing of a trace is looked for.
[[nodiscard]] ProcessPicture process_of(const CaseResult& result, const Evidence* evidence);

}  // namespace mprof
