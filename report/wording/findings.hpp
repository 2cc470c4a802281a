// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "report/analysis/findings/findings.hpp"

/// The sentences of findings.
namespace mprof {

/// A sentence or two: "The output of map/tiled is wrong at size 100, ...".
[[nodiscard]] std::string text_of(const Finding& finding);

}  // namespace mprof
