// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>

#include "report/analysis/advice/advice.hpp"
#include "report/views/views.hpp"

namespace mprof {

/// What to do next with a variant for a GPU: { anchor, absent, at, items: [{ op, list: [{ gain, time, text,
/// rule, record }], more, silence, missing, silenced }] }; false for any other.
[[nodiscard]] nlohmann::json advice_view(const FamilyResult& family, const VariantResult& variant,
                                         const PageContext& page);

/// What became of the advice in a family with variants for a GPU: { anchor, sentences: [text], tables };
/// false for any other.
[[nodiscard]] nlohmann::json tried_advice_view(const FamilyResult& family, const PageContext& page);

}  // namespace mprof
