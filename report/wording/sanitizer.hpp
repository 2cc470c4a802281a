// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "report/analysis/findings/findings.hpp"
#include "report/analysis/findings/sanitizer_summary.hpp"

/// What is said of compute-sanitizer's results.
namespace mprof {

/// "0.1.0 (0123456789ab)".
[[nodiscard]] std::string build_name(const Tool& tool);

/// "compute-sanitizer found no error: 4 tools over 18 variants."; empty without a record.
[[nodiscard]] std::string sanitizer_sentence(const SanitizerSummary& summary);

[[nodiscard]] std::string text_of(const finding::Sanitized& sanitized);
[[nodiscard]] std::string text_of(const finding::SanitizerCameToNothing& nothing);

}  // namespace mprof
