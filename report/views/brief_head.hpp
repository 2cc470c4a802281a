// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>

#include "report/analysis/standing/brief.hpp"
#include "report/views/page_plan.hpp"

/// The first lines of the brief: what somebody who leads the work asks.
namespace mprof {

/// "FP32"; the tolerance where nobody says what the numbers are called; empty without a tolerance.
[[nodiscard]] std::string precision_label(const Precision& precision);

/// "18.4× in FP32 (map/exact)": how many times as fast as the common baseline the fastest in its own
/// precision is, where the leader is less precise; else empty.
[[nodiscard]] std::string tight_factor_text(const Leader& leader);

// Lines are [{ lead, text }].

/// The headline figures: the best in each op, in the sum of the ops and in the whole.
[[nodiscard]] nlohmann::json brief_best(const FamilyResult& family, const Brief& brief);

/// Of the headline figures the sum of the ops, which is no op and has no card; none where it is no figure.
[[nodiscard]] nlohmann::json brief_together(const FamilyResult& family, const Brief& brief);

/// Why the best are faster, what bounds them, where the time of the whole goes, and what could be gained
/// next.
[[nodiscard]] nlohmann::json brief_outlook(const FamilyResult& family, const Brief& brief,
                                           const PageContext& page);

/// Whether outputs are right.
[[nodiscard]] nlohmann::json brief_right(const FamilyResult& family);

/// What the headline leaves out: the fastest in the baseline's precision, and own code against libraries.
[[nodiscard]] nlohmann::json brief_details(const FamilyResult& family, const Brief& brief);

/// [text]: what is worth a line below them.
[[nodiscard]] nlohmann::json brief_notes(const FamilyResult& family, const Brief& brief);

}  // namespace mprof
