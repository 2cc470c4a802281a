#pragma once

#include <filesystem>
#include <string_view>

namespace mprof {

/// A new folder below TMPDIR, gone with its object. It holds a lock as long as its process lives.
class TemporaryFolder {
 public:
  /// `name` is the beginning of the folder's. Throws Error(environment) when it cannot be made.
  explicit TemporaryFolder(std::string_view name);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int fd_ = -1;  ///< holds the lock
};

/// Removes those of this user's temporary folders whose processes were killed.
void remove_abandoned_folders();

}  // namespace mprof
