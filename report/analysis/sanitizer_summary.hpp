#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "model/sanitizer.hpp"

/// What a check run says of a family's variants.
namespace mprof {

struct FamilyResult;
struct Finding;

/// One variant; `results` are in the order of CheckSummary::tools, nullptr where the check has none.
struct VariantCheck {
  std::vector<const CheckResult*> results{};

  [[nodiscard]] bool checked() const;  ///< by one tool at least
  [[nodiscard]] bool wrong() const;    ///< some tool reported errors
};

/// Counts are of variants that some tool checked, and of results.
struct CheckSummary {
  bool recorded = false;                 ///< whether a check of this run is there at all
  std::size_t candidates = 0;            ///< variants of the family that are for a GPU, or were checked
  std::vector<CheckTool> tools{};        ///< those with a result
  std::vector<VariantCheck> variants{};  ///< in the family's order
  std::size_t checked_variants = 0;
  std::vector<std::string> wrong_variants{};  ///< ids, in order
  std::size_t checks = 0;                     ///< results that a tool came to, clean or with errors
  std::size_t unfinished = 0;                 ///< failed, or ended at the time limit
  std::string own_build{};                    ///< the mprof that made the run: "0.1.0 (0123456789ab)"
  std::vector<std::string> other_builds{};    ///< those that made checks and not the run
};

/// `check` may be nullptr: none was recorded. It must outlive the result, which points into it.
[[nodiscard]] CheckSummary summarize_check(const Check* check, const FamilyResult& family, const Run& run);

/// What a reader must know of it before using the numbers.
void add_check_findings(const std::vector<FamilyResult>& families, std::vector<Finding>& findings);

/// "compute-sanitizer found no error: 4 tools over 18 variants."; empty without a check.
[[nodiscard]] std::string check_sentence(const CheckSummary& summary);

}  // namespace mprof
