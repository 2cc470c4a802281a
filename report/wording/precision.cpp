// SPDX-License-Identifier: MIT
#include "report/wording/precision.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "model/precision.hpp"
#include "report/text/format.hpp"

namespace mprof {

std::string precision_name(std::string_view format) {
  std::string name(format);
  std::ranges::transform(name, name.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return format::one_line(name);
}

std::string right_in(const Verification& verification) {
  const auto format = format_of_tolerance(verification.tolerance);
  if (!verification.passed || !format) return {};
  const std::string name = precision_name(*format);
  const std::size_t either = name.find('/');
  return "right in " +
         (either == std::string::npos ? name : name.substr(0, either) + " or " + name.substr(either + 1));
}

std::string precision_note(const CaseResult& result) {
  const OpResult* worst = nullptr;
  for (const OpResult& op : result.ops) {
    if (!op.verification || right_in(*op.verification).empty()) continue;
    if (worst == nullptr || op.verification->relative_l2 > worst->verification->relative_l2) worst = &op;
  }
  if (!result.ok() || worst == nullptr) return {};
  return fmt::format("{}: relative L2 error {} ({}), tolerance {}", right_in(*worst->verification),
                     format::scientific(worst->verification->relative_l2), format::one_line(worst->info.name),
                     format::scientific(worst->verification->tolerance));
}

}  // namespace mprof
