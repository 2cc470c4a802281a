// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "report/analysis/advice/advice.hpp"

/// What is said of what to do next.
namespace mprof {

/// What to change, by its name: "Tile into registers: ..." `of_steps`: the advice is for the steps of a
/// program, whose ops have none of their own.
[[nodiscard]] std::string_view change_text(const AdviceRule& rule, bool of_steps = false);

/// Who has it: "map/tiled has less (warp instructions 5.1 G → 0.4 G), and is 17.2× as fast"; otherwise "See"
/// and the literature.
[[nodiscard]] std::string example_text(const Advice& advice);

/// "20 comparisons of this run changed this limit: 18 faster, 1 slower, 1 undecided; it was the largest
/// predicted gain in 3".
[[nodiscard]] std::string record_text(const AdviceRecord& record);

/// "its kernels (the run had no counters pass)".
[[nodiscard]] std::string not_judged_text(const NotJudged& missing);

}  // namespace mprof
