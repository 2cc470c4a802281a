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

/// Which op of the program a thread is in, by the rules of trace::make_program_case, as far as they can be
/// followed while the program runs: the op of the outermost open range that is one; on a thread that never
/// opens one, that of the range that was opened last in the process.
class OpenRanges {
 public:
  /// `ops`: those that earlier passes have found. Empty: each range of the default domain that `glob` (empty:
  /// any) matches is one.
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

  /// nullopt: it is none.
  [[nodiscard]] std::optional<std::string> op_of_range(bool in_default_domain, const std::string& text) const;

  std::set<std::string> ops_;
  std::string glob_;
  mutable std::mutex mutex_;                                ///< of what follows
  std::map<std::uint64_t, std::vector<Open>> by_thread_{};  ///< of those that ever had one
};

}  // namespace mprof::injection
