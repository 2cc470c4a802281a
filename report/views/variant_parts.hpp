#pragma once

#include <map>
#include <string>

#include <nlohmann/json.hpp>

#include "report/analysis/synergy.hpp"
#include "report/materials/materials.hpp"
#include "report/text/rich_text.hpp"
#include "report/views/views.hpp"

/// The parts of a variant's section, each a view of its own.
namespace mprof {

/// How it works: { how, correctness, combines: { html, markdown } or false, excerpts: [{ title, text, fence,
/// language }], file: the same with path, checks: [text], expected: [{ what, because }] }.
[[nodiscard]] nlohmann::json story_view(const FamilyResult& family, const VariantResult& variant,
                                        const PageContext& page);

/// Whether it was successful: { verdict, sentences: [text], expectations: table or false, bottlenecks: [{ op,
/// kernel, text }], counted_at }.
[[nodiscard]] nlohmann::json outcome_view(const FamilyResult& family, const VariantResult& variant,
                                          Anchors& anchors);

/// How it goes together with others, and what is left to win: { combination, steps, remaining: tables or
/// false, sentences: [text] }.
[[nodiscard]] nlohmann::json synergy_view(const FamilyResult& family, const VariantResult& variant,
                                          const PageContext& page);

/// "op time of rows: lower, by 1.2x or more".
[[nodiscard]] std::string expected_text(const FamilyResult& family, const Expectation& expectation);

}  // namespace mprof
