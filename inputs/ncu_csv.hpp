// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Reads what `ncu --csv` prints: the details page, the raw page and --print-summary, of any version since
/// 2019, with whatever the profiled program and ncu itself print around and between.
namespace mprof {

/// One value of a launch.
struct NcuValue {
  std::string metric{};           ///< its name as ncu's --metrics takes it
  std::optional<double> value{};  ///< SI base unit, percentages in %; nullopt: ncu printed n/a
  bool operator==(const NcuValue&) const = default;
};

/// One profiled launch; in a summary all launches of a kernel with one grid and block.
struct NcuLaunch {
  std::int64_t process = 0;  ///< 0: not known
  std::int64_t id = 0;       ///< ncu's number of the launch in its report
  std::string program{};
  std::string kernel{};
  std::optional<std::array<std::uint32_t, 3>> grid{};
  std::optional<std::array<std::uint32_t, 3>> block{};
  std::uint64_t invocations = 1;  ///< that the values are the averages of
  std::vector<NcuValue> values{};
  bool operator==(const NcuLaunch&) const = default;
};

struct NcuReport {
  std::vector<NcuLaunch> launches{};            ///< by process and id, whatever order the file has
  std::map<std::string, std::string> device{};  ///< device__attribute_... without the prefix, as printed
  std::string compute_capability{};             ///< "9.0"; empty: not known
  std::vector<std::string> unknown{};           ///< labels of the details page that mprof knows no metric of
  std::vector<std::string> notes{};             ///< what the file lacks, and the errors that ncu told in it
  bool operator==(const NcuReport&) const = default;
};

/// Parses a file's bytes: UTF-8, or UTF-16 as PowerShell redirects; separated by commas, or by semicolons or
/// tabs as spreadsheets save. `name` is what messages call them. The last row may be cut off, which is noted.
/// Throws Error(usage), with the line, when there is no table or a broken one. A table is broken if a row
/// lacks columns, a number is missing where one must be, or numbers are of two languages.
[[nodiscard]] NcuReport parse_ncu_csv(std::string_view bytes, const std::string& name);

/// Reads a file. Throws Error(usage) that names it.
[[nodiscard]] NcuReport read_ncu_csv(const std::filesystem::path& path);

/// The metric of a label on the details page ("Duration", "Achieved Occupancy"), which may mean another one
/// in another section ("Memory Throughput"), by its unit; empty: not known.
[[nodiscard]] std::string_view ncu_metric(std::string_view section, std::string_view label,
                                          std::string_view unit);

/// What one of a unit as ncu prints it ("usecond", "Mbyte/second", "Ghz") is in SI base units. It is 1 for a
/// unit without a prefix, and for a text that is no unit.
[[nodiscard]] double ncu_unit(std::string_view unit);

}  // namespace mprof
