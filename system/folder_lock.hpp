#pragma once

#include <filesystem>

namespace mprof {

/// Holds a folder against every other process that asks for it so, on any machine whose file system passes
/// such locks on (flock), until it ends, however its process ends.
class FolderLock {
 public:
  /// The folder must be there. What only looks (is_held()) is waited for. Throws Error(usage) when another
  /// process holds it, Error(environment) when it cannot be opened.
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

  /// Whether somebody holds it now; not where it cannot be opened.
  [[nodiscard]] static bool is_held(const std::filesystem::path& folder);

 private:
  int fd_ = -1;
};

}  // namespace mprof
