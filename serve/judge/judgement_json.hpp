// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>

#include <nlohmann/json.hpp>

#include "serve/judge/judgement.hpp"

namespace mprof {

inline constexpr const char* judge_schema = "mprof.judge/1";
/// Bytes that an answer may have unless the user says otherwise, and what it needs at least.
inline constexpr std::size_t usual_judge_bytes = 8192, fewest_judge_bytes = 2048;

/// What docs/formats/judge-json.md describes. Its compact text has at most `most_bytes`: what is left out for
/// that is named in `truncated`.
[[nodiscard]] nlohmann::ordered_json judgement_json(const Judgement& judgement, std::size_t most_bytes);

/// The same for people: ten lines at most, the first one the answer.
[[nodiscard]] std::string judgement_text(const Judgement& judgement);

/// The first line of that.
[[nodiscard]] std::string judgement_answer(const Judgement& judgement);

}  // namespace mprof
