// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "system/clock.hpp"

/// What a stranger's code runs in: bubblewrap's namespaces. Nothing of the machine is there but programs,
/// libraries and what it is shown; there is no network, and no process but its own.
namespace mprof {

struct SandboxLimits {
  /// B, of all its processes together, in memory or swapped out: what several of them share counts once, and
  /// files in memory that have no name count too. See SandboxGuard.
  std::uint64_t memory = 0;
  std::uint64_t file = 0;       ///< B, of a file that it writes
  std::uint64_t processes = 0;  ///< and threads, at once
  std::uint64_t cpu = 0;        ///< s, of each process
  bool limits_data = false;     ///< the kernel refuses a process more memory; not where CUDA maps its own
};

/// Limits that suit this machine: three quarters of its memory, and some threads for each of its CPUs.
[[nodiscard]] SandboxLimits usual_sandbox_limits();

/// What one command in the sandbox sees beside the system's programs and libraries.
struct SandboxView {
  std::vector<std::filesystem::path> readable{};  ///< files and folders, at their own paths
  std::vector<std::filesystem::path> writable{};
};

class Sandbox {
 public:
  /// Throws Error(environment) with what to do where bwrap is missing or cannot make a sandbox here.
  Sandbox(const SandboxLimits& limits, const Clock& clock);

  /// What stands before the command line of what runs in it.
  [[nodiscard]] std::vector<std::string> command(const SandboxView& view) const;
  [[nodiscard]] const SandboxLimits& limits() const { return limits_; }

 private:
  std::string bwrap_;
  std::string prlimit_;
  SandboxLimits limits_;
};

/// Watches what this process has started, and ends a child of it that takes too much together with all below
/// it. The kernel's own limits count each process alone, and none of root's.
class SandboxGuard {
 public:
  explicit SandboxGuard(const SandboxLimits& limits);
  ~SandboxGuard();
  SandboxGuard(const SandboxGuard&) = delete;
  SandboxGuard& operator=(const SandboxGuard&) = delete;

  /// What it has ended something for since this was asked last, as a sentence goes on: "it had more than 300
  /// processes and threads"; empty: nothing.
  [[nodiscard]] std::string take_reason();

 private:
  void watch();

  SandboxLimits limits_;
  std::atomic<bool> ends_{false};
  std::mutex mutex_{};
  std::string reason_{};
  std::thread thread_;
};

}  // namespace mprof
