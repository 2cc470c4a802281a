// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace mprof::injection {

/// Which op of the program a thread is in. The rules are those in trace::make_program_case, as far as they
/// can be followed while the program runs. It is the op of the outermost open range that is one. On a thread
/// that never opens such a range, it is the op of the range that was opened last in the process.
class OpenRanges {
 public:
  /// `ops`: the ops that earlier passes have found. Empty: each range of the default domain that `glob`
  /// (empty: any) matches is an op.
  OpenRanges(std::vector<std::string> ops, std::string glob);

  /// `id`: of no other range of the process.
  void begins(std::uint64_t thread, std::uint64_t id, bool in_default_domain, const std::string& text);
  /// On whatever thread.
  void ends(std::uint64_t id);

  /// "": outside of all ops.
  [[nodiscard]] std::string op_of(std::uint64_t thread) const;

 private:
  struct Open {
    std::uint64_t id = 0;  ///< ascending, as they began
    std::string op;
  };

  /// nullopt: the range is no op.
  [[nodiscard]] std::optional<std::string> op_of_range(bool in_default_domain, const std::string& text) const;

  std::set<std::string> ops_;
  std::string glob_;
  mutable std::mutex mutex_;                                ///< of what follows
  std::map<std::uint64_t, std::vector<Open>> by_thread_{};  ///< of threads that ever had one
};

}  // namespace mprof::injection
