// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mprof::injection {

/// The CUPTI that this process has: a process must not have two of them.
struct CuptiLibrary {
  void* handle = nullptr;  ///< nullptr: none could be loaded
  std::string path{};
  std::vector<std::string> others{};  ///< paths of further ones that the process has loaded itself
};

/// The one that is loaded. Where `looks_beside`, next the one beside the CUDA libraries that are loaded, or
/// in their site-packages: the program may load it later. Next the one that mprof has found, and last what
/// the linker finds, the newest first.
[[nodiscard]] CuptiLibrary find_cupti(bool looks_beside);

/// A version as CUPTI gives it, as people know it: "12.9.1" of 28, "13.0.1" of 130001.
[[nodiscard]] std::string cupti_version_text(std::uint32_t version);

/// Whether records of this version can be read: of CUDA 11.8 to 13. Each later version of a record has all
/// fields of the earlier ones, where they were.
[[nodiscard]] bool has_known_records(std::uint32_t version);

}  // namespace mprof::injection
