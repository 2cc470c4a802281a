#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

/// Nsight Compute, which is not ours.
namespace mprof::test {

[[nodiscard]] bool has_ncu();

/// A launch that it counted.
struct NcuLaunch {
  std::string kernel;                     ///< as it writes it: with template arguments and parameters
  std::string grid;                       ///< likewise: "(500, 1, 1)"
  std::string block;                      ///< likewise
  std::map<std::string, double> metrics;  ///< in their base units: B, ns, percent
};

/// Runs `command` under it: the launches that `options` choose, all of the program's processes included.
[[nodiscard]] std::vector<NcuLaunch> counted_by_ncu(std::span<const char* const> metrics,
                                                    const std::string& options, const std::string& command);

}  // namespace mprof::test
