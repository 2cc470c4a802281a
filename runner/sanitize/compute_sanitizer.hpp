// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "system/clock.hpp"

/// NVIDIA's compute-sanitizer: where it is, and what its log says.
namespace mprof {

/// The program, or why it cannot be used.
struct Sanitizer {
  std::string program{};  ///< its path
  std::string version{};  ///< "2025.3.1.0"
  std::string absent{};   ///< the reason, and what to do; empty when it can be used
};

/// The folders in which it is looked for, in order: the folders of PATH, the CUDA toolkit of the environment
/// (CUDA_HOME, CUDA_PATH), the toolkit of this build, and the one that all users have.
[[nodiscard]] std::vector<std::filesystem::path> sanitizer_folders();

/// The first of the folders' programs, asked for its version.
[[nodiscard]] Sanitizer find_sanitizer(const std::vector<std::filesystem::path>& folders, const Clock& clock);

/// What a log of compute-sanitizer says, of whichever tool.
struct SanitizerLog {
  bool has_summary = false;  ///< without it the tool did not come to its end
  std::uint32_t errors = 0;
  std::uint32_t warnings = 0;
  /// The first error with where and who, on one line of bounded length; without an error the first warning,
  /// or what the tool says of itself.
  std::string first_report{};
};

/// Never fails: what is no line of compute-sanitizer says nothing.
[[nodiscard]] SanitizerLog parse_sanitizer_log(std::string_view text);

}  // namespace mprof
