// SPDX-License-Identifier: MIT
#pragma once

#include <mutex>
#include <set>

#include <sys/types.h>

namespace mprof {

/// The processes that spawn() started and nobody has waited for yet.
class StartedProcesses {
 public:
  /// Nothing is started or waited for as long as this lives.
  class Held {
   public:
    [[nodiscard]] bool contains(pid_t pid) const { return all().contains(pid); }

   private:
    friend class StartedProcesses;
    std::unique_lock<std::mutex> lock_{mutex()};
  };

  [[nodiscard]] static Held hold() { return {}; }
  /// `start` gives the process's id, or -1.
  template <class Start>
  static pid_t add(const Start& start) {
    const Held held;
    const pid_t pid = start();
    if (pid > 0) all().insert(pid);
    return pid;
  }
  /// Was waited for: its id may be another's.
  static void remove(pid_t pid) {
    const Held held;
    all().erase(pid);
  }

 private:
  static std::mutex& mutex() {
    static std::mutex one;
    return one;
  }
  static std::set<pid_t>& all() {
    static std::set<pid_t> pids;
    return pids;
  }
};

}  // namespace mprof
