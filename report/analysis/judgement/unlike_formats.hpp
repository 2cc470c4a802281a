// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/run.hpp"

namespace mprof {

/// Two number formats, as number_format() of model/precision.hpp has them.
struct UnlikeFormats {
  std::string a{}, b{};
};

/// Whether both outputs may be in one number format, or are both as exact as the stricter of the two asks:
/// then what was declared changes nothing.
[[nodiscard]] bool have_like_formats(const Verification& a, const Verification& b);

/// The number formats in which the outputs of an op are right on two sides; with `op` empty, of the first op
/// that differs. nullopt where they may be one. A verdict on its time speaks of the format too.
[[nodiscard]] std::optional<UnlikeFormats> unlike_formats_of(const Case& a, const Case& b,
                                                             std::string_view op);

}  // namespace mprof
