// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <vector>

#include <sys/types.h>

/// Processes that somebody else's code leaves behind: a daemon in a session of its own, or a copy of the
/// process.
namespace mprof {

/// The children of all threads of a process, also ended ones that nobody has waited for.
[[nodiscard]] std::vector<pid_t> children_of(pid_t process);

/// Stops a process and all below it, in whatever group or session they are, until resume_tree(). Returns when
/// none of them runs any more, or when they start new ones faster than that.
void stop_tree(pid_t process) noexcept;
void resume_tree(pid_t process) noexcept;

/// From now on descendants whose parent ends become children of this process, so that end_strays() finds
/// them. Not where this process has children already: a script that became mprof by exec started those.
void adopt_strays();

/// Ends the children that spawn() did not start, and their descendants. Gives how many of them still ran.
/// Does nothing without adopt_strays().
std::size_t end_strays();

/// Waits for strays that have ended already: their ids are few.
void reap_strays();

/// Calls end_strays() at the end of its scope.
class StraysEnd {
 public:
  StraysEnd() = default;
  ~StraysEnd() { end_strays(); }
  StraysEnd(const StraysEnd&) = delete;
  StraysEnd& operator=(const StraysEnd&) = delete;
};

/// From now on a copy of this process, made by fork(), knows that it is one.
void watch_for_copies();

/// To be called where somebody else's code returns: ends the process at once if it is a copy, which has no
/// business here, and counts it.
void end_copy();

/// How many copies have come back since this was called last.
[[nodiscard]] std::size_t copies_that_came_back();

}  // namespace mprof
