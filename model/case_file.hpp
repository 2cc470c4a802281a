// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "model/run.hpp"

/// cases/NAME.json: what one case of a run left, and nothing of any other.
namespace mprof {

class Allowance;

/// Where the case files are, relative to the run's directory.
inline constexpr const char* case_folder = "cases";

/// What a case file says.
struct StoredCase {
  int schema_version = run_schema_version;
  std::string run{};  ///< run_stamp() of the run that the case is of
  std::string id{};
  CaseKey key{};
  std::vector<PassResult> passes{};
};

/// Where the file of a case stands, relative to the run's directory: cases/map.tiled[width=16]@1000.json.
/// Each `/` of the id is a dot, and whatever a file name should not hold is percent-encoded. So no id leads
/// anywhere else, and no two ids share a file. An id too long for a name keeps its beginning and a hash of
/// the whole.
[[nodiscard]] std::filesystem::path case_file(std::string_view id);

/// Whether any of its passes was reached: otherwise the case has no file.
[[nodiscard]] bool has_results(const Case& c);

/// What tells a run from another one in the same directory: its case files repeat it.
[[nodiscard]] std::string run_stamp(const Run& run);
/// The one that it had before it was merged.
[[nodiscard]] std::string run_stamp(const RunPart& part);

/// The text of a case's file. Its ops stand in run.json, once a problem.
[[nodiscard]] std::string case_to_json(const Case& c, std::string_view stamp);

/// The inverse. `name` is what messages call the text. Throws Error(usage) that names the field and the
/// value.
[[nodiscard]] StoredCase parse_case(std::string_view text, const std::string& name);

/// The same of a file of a result directory. Throws too when it needs more memory than is left to be taken.
[[nodiscard]] StoredCase read_case(const std::filesystem::path& directory, const std::filesystem::path& file,
                                   Allowance& allowance);

}  // namespace mprof
