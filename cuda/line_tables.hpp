// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mprof::cuda {

/// Where in the source an instruction comes from, by the compiler's line table. The file is empty for a
/// kernel that was compiled without a line table (-lineinfo), and for instructions that belong to no line.
struct SourcePlace {
  std::string file{};  ///< below mprof's sources where it is one of them: "kernels/family/variant.cu"
  std::uint32_t line = 0;
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the generated comparison with 0 for a pointer
  auto operator<=>(const SourcePlace&) const = default;
};

/// The line tables of modules, read by CUPTI. It needs no GPU. Throws Error(environment) without a CUPTI.
class LineTables {
 public:
  /// Adds a module's machine code. Code that CUPTI cannot read is left out.
  void add(std::string_view cubin);
  /// Of an instruction, by its module's checksum, its function's symbol and its offset in that, in bytes.
  [[nodiscard]] SourcePlace place_of(std::uint64_t checksum, const char* function,
                                     std::uint64_t offset) const;

 private:
  std::map<std::uint64_t, std::vector<char>> code_;  ///< by the checksums that samples name
};

/// What a warp waited for, "long_scoreboard", by CUPTI's name of a metric. nullopt for another metric, and
/// for one that counts only samples in which the scheduler issued nothing.
[[nodiscard]] std::optional<std::string> stall_reason(std::string_view metric);

}  // namespace mprof::cuda
