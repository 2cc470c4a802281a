// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string_view>

namespace mprof {

/// A new folder below TMPDIR that this user alone may enter. It is gone with its object. What a killed mprof
/// of this user left there is removed when its next one makes its first.
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
  int lock_ = -1;  ///< the folder itself; open and locked while this process lives
};

/// The same removal, for a program that may make no folder.
void remove_abandoned_folders();

}  // namespace mprof
