// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "report/analysis/reasons/explanations.hpp"
#include "report/text/family_words.hpp"

/// What explanations say: the sentences of the rules, long and short, and the numbers that they cite.
namespace mprof {

/// The words of one rule of report/analysis/reasons/rules.cpp. "{}" stands for what the rule cites, in that
/// order, and {0}, {1} ... for one of it; {whole}, {a_whole}, {group} and {group_time} for the family's
/// words.
struct ReasonWords {
  std::string_view rule;  ///< its id
  std::string_view sentence;
  std::string_view in_short{};  ///< where there is little room; empty: the sentence itself
};

/// In the order of the rules.
[[nodiscard]] std::span<const ReasonWords> reason_words();

/// "Fewer warp instructions: 12.1 → 8.0 million (−33.9 %)."
[[nodiscard]] std::string sentence_of(const Reason& reason, const Words& words);
/// The same where there is little room.
[[nodiscard]] std::string short_sentence_of(const Reason& reason, const Words& words);
/// The sentence, and what a point of the variant's own sweep or another variant says to it.
[[nodiscard]] std::string reason_text(const Reason& reason, const Words& words);

/// "hardware counters (the run had no counters pass)".
[[nodiscard]] std::string missing_text(const MissingEvidence& missing);

/// "kernel a", "kernels a → b": what the figures of single kernels are of; empty where none was counted.
[[nodiscard]] std::string kernels_text(const Explanation& explanation);

/// The table of docs/how-it-works/explanations.md.
[[nodiscard]] std::string rules_as_markdown();

}  // namespace mprof
