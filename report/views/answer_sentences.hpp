// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/analysis/analysis.hpp"
#include "report/analysis/standing/standings.hpp"

/// Sentences about a family as a whole, which the brief and the answer share.
namespace mprof {

/// In the place of a verdict or an interval of what was disturbed.
inline constexpr std::string_view disturbed_words = "no verdict: a time was disturbed";

/// "map", "whole execution"; without an article, as the beginning of a line has it.
[[nodiscard]] std::string timed_name(const FamilyResult& family, const std::string& op);

/// "Error is kept: 0.9127 at size 10000 over 4 verified variants."
[[nodiscard]] std::string quality_sentence(const FamilyResult& family, const QualityRange& range);

/// What the fastest ops leave to win in the whole; empty where nothing tells.
[[nodiscard]] std::string remainder_sentence(const FamilyResult& family);

/// The first few of a list, and how many more there are, when it is long.
[[nodiscard]] std::string some_of(std::vector<std::string> names);
/// Whether some_of() leaves out any.
[[nodiscard]] bool is_cut(const std::vector<std::string>& names);

struct NamedList {
  std::string title;
  std::vector<std::string> items;
};

/// Variants with parameters that were not swept, "map/streams (streams=4)": at their defaults, and at another
/// value alone.
[[nodiscard]] std::vector<NamedList> unswept_lists(const FamilyResult& family);

/// "Not swept, so at their defaults: map/streams (streams=4). Other values may be faster." Empty where
/// nothing was left so.
[[nodiscard]] std::string unswept_sentence(const FamilyResult& family);

/// "the double-precision reference": what the outputs of the family were compared with.
[[nodiscard]] std::string reference_words(const FamilyResult& family);

[[nodiscard]] std::string verification_sentence(const FamilyResult& family);

/// What the step from the CPU to the GPU gives at the largest problem of a run that measured on both; empty
/// of another one.
[[nodiscard]] std::string device_sentence(const FamilyResult& family);

}  // namespace mprof
