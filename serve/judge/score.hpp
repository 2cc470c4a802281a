// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>

#include "inputs/rubric_file.hpp"
#include "serve/judge/judgement.hpp"

namespace mprof {

/// Where no rubric is given: 100 points for what is right.
[[nodiscard]] Rubric plain_rubric();

/// Adds the points that the rubric gives. What is not right has none.
void add_score(const Rubric& rubric, Judgement& judgement);

/// results.json, as Gradescope's autograders write it.
[[nodiscard]] nlohmann::ordered_json gradescope_json(const Judgement& judgement);

}  // namespace mprof
