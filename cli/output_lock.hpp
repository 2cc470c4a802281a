// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <optional>

#include "system/folder_lock.hpp"

namespace mprof::cli {

/// Holds the folder that a report or an export is written to, so that another mprof does not write there at
/// the same time. Says so while it waits for one. The folder is made where it is missing, and removed again
/// where nothing came of it.
class OutputLock {
 public:
  /// Throws Error(usage) when another mprof does not come to an end there, Error(environment) when the folder
  /// cannot be made.
  explicit OutputLock(const std::filesystem::path& folder);
  ~OutputLock();
  OutputLock(const OutputLock&) = delete;
  OutputLock& operator=(const OutputLock&) = delete;

 private:
  std::filesystem::path folder_;
  bool is_new_ = false;
  std::optional<FolderLock> lock_;
};

}  // namespace mprof::cli
