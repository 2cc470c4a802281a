// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace mprof {

/// Locks a folder until it ends, however its process ends. Every other process that asks for the lock is kept
/// out, on any machine whose file system passes such locks on (flock).
class FolderLock {
 public:
  /// The folder must be there. What only looks (is_held()) is waited for. Another holder is waited for half a
  /// minute where `waiting` is given, which is called once when that begins. Throws Error(usage) when another
  /// process still holds it, Error(environment) when it cannot be opened.
  explicit FolderLock(const std::filesystem::path& folder, const std::function<void()>& waiting = {});
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

  /// What is called with a folder, and why it could not be locked, where its file system has no such locks.
  /// It is not locked then, and the constructor succeeds.
  using Obstacle = std::function<void(const std::filesystem::path& folder, const std::string& why)>;
  static void on_obstacle(Obstacle told);

  /// Whether somebody holds it now; not where it cannot be opened.
  [[nodiscard]] static bool is_held(const std::filesystem::path& folder);
  /// The same, but for what this process holds itself.
  [[nodiscard]] static bool is_held_by_another(const std::filesystem::path& folder);

 private:
  int fd_ = -1;
};

}  // namespace mprof
