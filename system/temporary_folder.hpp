#pragma once

#include <filesystem>
#include <string_view>

namespace mprof {

/// A new folder below TMPDIR, gone with its object.
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
};

}  // namespace mprof
