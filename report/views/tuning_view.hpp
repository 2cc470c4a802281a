// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "report/analysis/standing/tuning.hpp"

namespace mprof {

/// What a search has come to.
struct TuningOutcome {
  std::string variant{};
  std::string where{};  ///< "at size 1000"
  std::string strategy{};
  std::size_t points = 0;         ///< that there are
  std::vector<Candidate> all{};   ///< of the search, as it ranked them
  std::vector<Candidate> best{};  ///< the points that were measured again; may be empty
  Parameters usual{};             ///< the default; empty: no default
  /// The default where it is no point of the search and was measured beside the best; it never wins.
  std::optional<Candidate> beside{};
  std::string ended{};  ///< why it ended before its time, as a sentence; empty: it did not
};

/// "width=8,rows=2": a value of each parameter.
[[nodiscard]] std::string point_name(const Parameters& parameters);

/// What `mprof tune` prints: the points that were measured again, or the best ones of a search that did not
/// come so far. Then it prints what cannot be, what was not right and what was not tried. Plain text of at
/// most `width` columns.
[[nodiscard]] std::string render_tuning(const TuningOutcome& outcome, const Objective& objective,
                                        const FamilyInfo& family, const Words& words, std::size_t width);

}  // namespace mprof
