// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string_view>

namespace mprof::test {

/// A new directory for one test, gone with everything in it at the end.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Writes a file below it, with the directories on the way, and returns where it is.
  std::filesystem::path write(const std::filesystem::path& relative, std::string_view contents) const;

 private:
  std::filesystem::path path_;
};

}  // namespace mprof::test
