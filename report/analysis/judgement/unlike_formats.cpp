// SPDX-License-Identifier: MIT
#include "report/analysis/judgement/unlike_formats.hpp"

#include <algorithm>

#include "model/precision.hpp"
#include "report/analysis/judgement/verification.hpp"

namespace mprof {

bool have_like_formats(const Verification& a, const Verification& b) {
  const bool are_exact =
      a.passed && b.passed && std::max(a.relative_l2, b.relative_l2) <= std::min(a.tolerance, b.tolerance);
  return are_exact || may_be_one_format(number_format(a), number_format(b));
}

std::optional<UnlikeFormats> unlike_formats_of(const Case& a, const Case& b, std::string_view op) {
  for (const OpInfo& one : a.ops) {
    if (!op.empty() && op != one.name) continue;
    const Verification* const before = find_verification(a, one.name);
    const Verification* const after = find_verification(b, one.name);
    if (before == nullptr || after == nullptr || have_like_formats(*before, *after)) continue;
    return UnlikeFormats{std::string(number_format(*before)), std::string(number_format(*after))};
  }
  return std::nullopt;
}

}  // namespace mprof
