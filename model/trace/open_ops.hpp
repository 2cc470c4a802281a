// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/trace/trace.hpp"

/// Which op of a program was open at a moment.
namespace mprof::trace {

/// A range that is an op, or the part of one.
struct OpTime {
  Interval time{};
  std::int64_t thread = 0;
  std::string op{};
};

/// Finds the op that was open when something happened. It must not outlive the times.
class OpenOps {
 public:
  explicit OpenOps(const std::vector<OpTime>& times);

  /// On a thread; on one that never opens any, and for a process, the one that its process opened last.
  [[nodiscard]] const OpTime* at(std::int64_t thread, std::int64_t time) const;
  /// On any: the one that was opened last.
  [[nodiscard]] const OpTime* at(std::int64_t time) const;

 private:
  /// The times of a thread do not overlap.
  [[nodiscard]] const OpTime* on(std::int64_t thread, std::int64_t time) const;

  const OpTime* whole_ = nullptr;  ///< of a program without ranges: all of its processes belong to it
  std::map<std::int64_t, std::vector<const OpTime*>> by_thread_;
  std::map<std::int64_t, std::vector<std::int64_t>> threads_;  ///< by process
};

/// The ops that make_program_case() found in a case. None where nobody looked for any.
[[nodiscard]] std::vector<OpTime> op_times_of(const Trace& trace, CaseIndex in_case);

}  // namespace mprof::trace
