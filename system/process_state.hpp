// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/types.h>

namespace mprof {

/// What a process has once for all of its code. Code that changes it spoils it for what runs there later.
class ProcessState {
 public:
  static ProcessState now();

  /// What differs from an earlier one, in words, such as "the current directory, a signal handler"; empty:
  /// nothing. Descriptors that were opened since are no difference, unless they fill half of what it may
  /// open.
  [[nodiscard]] std::string changes_since(const ProcessState& before) const;

 private:
  struct File {
    int descriptor = -1;
    dev_t device{};
    ino_t inode{};
    bool operator==(const File&) const = default;
  };

  ProcessState() = default;

  std::vector<std::string> environment_;
  std::string directory_;
  std::array<struct sigaction, NSIG> handlers_{};
  sigset_t blocked_{};
  std::array<rlimit, RLIM_NLIMITS> limits_{};
  std::array<itimerval, 3> timers_{};
  std::vector<File> files_;
  cpu_set_t cpus_{};
  mode_t mask_ = 0;
  int priority_ = 0;
  int rounding_ = 0;
};

}  // namespace mprof
