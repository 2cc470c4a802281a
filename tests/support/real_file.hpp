// SPDX-License-Identifier: MIT
#pragma once

#include <cstdlib>
#include <filesystem>

namespace mprof::test {

/// A real file of another tool, which is no part of the repository: in the folder MPROF_FIXTURES, or else in
/// ../shared/fixtures beside the checkout `source`. Empty where it is in neither.
inline std::filesystem::path real_file(const std::filesystem::path& source, const char* name) {
  const char* const chosen = std::getenv("MPROF_FIXTURES");
  const std::filesystem::path folder =
      chosen != nullptr ? std::filesystem::path(chosen) : source / ".." / "shared" / "fixtures";
  return std::filesystem::exists(folder / name) ? folder / name : std::filesystem::path();
}

}  // namespace mprof::test
