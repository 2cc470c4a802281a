// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/analysis/analysis.hpp"
#include "report/analysis/standing/sweep.hpp"

/// Which of a variant's points is the best by a metric: what a search asks after each step, and what it says
/// at its end.
namespace mprof {

/// What a search makes as good as it can.
struct Objective {
  std::string metric{};
  std::string op{};  ///< empty: all ops together, or the whole
  Better better = Better::lower;
};

/// "METRIC" or "METRIC:OP" of this family. Throws Error(usage) for a metric or an op that there is not, and
/// for a metric of which neither more nor less is better.
[[nodiscard]] Objective parse_objective(const std::string& text, const FamilyInfo& family,
                                        const std::vector<OpInfo>& ops);

/// The pass that an objective's values come from.
[[nodiscard]] Pass pass_of(const Objective& objective);

/// Throws Error(usage) where no point of the run can have a value of the objective: the variant's device, the
/// passes of the plan, or the work of its ops leave none. Nothing of the run needs to be measured yet. `text`
/// is what was asked for.
void require_values(const std::string& text, const Objective& objective, const Run& run);

/// What is searched for where nothing was said: the times of all ops together, or of a family without ops the
/// time of the whole. Copies are left out where the times without them say something at each point of the
/// run. `run` was derived.
[[nodiscard]] Objective usual_objective(const Run& run);

/// A case by the objective.
struct Candidate {
  std::size_t index = 0;  ///< of its case in the run
  CaseResult result{};
  Value value{};  ///< absent where its output is not right, or nothing was measured
  Standing standing = Standing::none;
  Why reason{};  ///< why its standing is unclear or none
};

/// All cases of a run, the best first, and last the cases without a value. Times are judged as in a sweep.
/// Anything else has no test: values that are equal to the best are tied with it, and the others are slower.
/// `run` was derived, and must outlive the result.
[[nodiscard]] std::vector<Candidate> ranked(const Run& run, const Objective& objective);

/// What a value costs, for a strategy.
[[nodiscard]] double cost_of(const Value& value, const Objective& objective);

/// The best of these and all that are tied with it. Then so many of the next ones that there are `fewest`,
/// but not more than `most` in all. Places in `ranked`.
[[nodiscard]] std::vector<std::size_t> finalists(const std::vector<Candidate>& ranked, std::size_t fewest,
                                                 std::size_t most);

}  // namespace mprof
