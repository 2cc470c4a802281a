// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "model/sanitizer.hpp"

/// What compute-sanitizer says of a family's variants.
namespace mprof {

struct FamilyResult;

/// One variant; `results` are in the order of SanitizerSummary::tools, nullptr where the record has none.
struct SanitizedVariant {
  std::vector<const SanitizerResult*> results{};

  [[nodiscard]] bool sanitized() const;  ///< by one tool at least
  [[nodiscard]] bool wrong() const;      ///< some tool reported errors
};

/// Counts are of variants that some tool finished with, and of results.
struct SanitizerSummary {
  bool recorded = false;                     ///< whether there is a record at all
  std::size_t candidates = 0;                ///< variants of the family that are for a GPU, or were sanitized
  std::vector<SanitizerTool> tools{};        ///< those with a result
  std::vector<SanitizedVariant> variants{};  ///< in the family's order
  std::size_t sanitized_variants = 0;
  std::vector<std::string> wrong_variants{};  ///< ids, in order
  std::size_t finished = 0;                   ///< results that a tool came to, clean or with errors
  std::size_t unfinished = 0;                 ///< failed, or ended at the time limit
  Tool own_build{};                           ///< the mprof that made the run
  std::vector<Tool> other_builds{};           ///< sanitized builds that did not make the run
};

/// `record` may be nullptr: none was recorded. It must outlive the result, which points into it.
[[nodiscard]] SanitizerSummary summarize_sanitizer(const SanitizerRecord* record, const FamilyResult& family,
                                                   const Run& run);

}  // namespace mprof
