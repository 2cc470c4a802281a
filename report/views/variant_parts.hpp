// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <string>

#include <nlohmann/json.hpp>

#include "report/analysis/standing/synergy.hpp"
#include "report/materials/materials.hpp"
#include "report/text/rich_text.hpp"
#include "report/views/views.hpp"

/// The parts of a variant's section, each a view of its own.
namespace mprof {

/// How it works: { how, details, correctness, combines: { html, markdown } or false, excerpts: [{ title,
/// text, fence, language }], file: the same with path, checks: [text], expected: [{ what, because }] }.
[[nodiscard]] nlohmann::json story_view(const FamilyResult& family, const VariantResult& variant,
                                        const PageContext& page);

/// Whether it was successful: { verdict, sentences: [text], expectations: table or false, expected: [{
/// outcome, what, why }], budget: [text], bottlenecks: [{ op, kernel, text }], counted_at }.
[[nodiscard]] nlohmann::json outcome_view(const FamilyResult& family, const VariantResult& variant,
                                          Anchors& anchors);

/// How it goes together with others, and what is left to win: { combination, steps, remaining: tables or
/// false, sentences: [text] }.
[[nodiscard]] nlohmann::json synergy_view(const FamilyResult& family, const VariantResult& variant,
                                          const PageContext& page);

/// The times of a variant without and with it, problem by problem, each point of a sweep left to the one that
/// stands for it: the table that a hand-in has.
[[nodiscard]] Table page_table(const FamilyResult& family, const VariantResult& variant, Anchors& anchors);

/// How the rate of each op goes from the smallest to the largest problem, by the time by which it is
/// compared; empty where nothing shows it. "Scaling, from size 100 to size 10000: map 2.68 → 3.02 TFLOP/s
/// (1.13×)."
[[nodiscard]] std::string scaling_text(const FamilyResult& family, const VariantResult& variant);

/// How far the samples of each time lie apart, and the GPU's clock while they were taken; a row a case.
[[nodiscard]] Table noise_table(const FamilyResult& family, const VariantResult& variant, Anchors& anchors);

/// The lines of its source at which its warps stood most often, and what they waited for there: a table, or
/// false where nothing was sampled.
[[nodiscard]] nlohmann::json hot_lines_view(const FamilyResult& family, const VariantResult& variant,
                                            const PageContext& page);

/// The kernels in which the GPU time of a program, or of an import, went at the largest problem that was
/// traced or counted, with what hardware counted of them. It is a table, or false for variants, whose kernels
/// have sections.
[[nodiscard]] nlohmann::json top_kernels_view(const FamilyResult& family, const VariantResult& variant,
                                              Anchors& anchors);

/// Against its own baseline, which it names: "slower than float4", "faster in rows, slower in columns than
/// baseline"; "baseline" of one.
[[nodiscard]] std::string short_verdict(const FamilyResult& family, const CaseResult& result);

/// "op time of rows: lower, by 1.2x or more".
[[nodiscard]] std::string expected_text(const FamilyResult& family, const Expectation& expectation);

}  // namespace mprof
