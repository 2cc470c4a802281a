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

std::string format_words(std::string_view format) {
  if (format.empty()) return "FP32";
  const std::string name = precision_name(format);
  const std::size_t either = name.find('/');
  return either == std::string::npos ? name : name.substr(0, either) + " or " + name.substr(either + 1);
}

std::string right_in(const Verification& verification) {
  const std::string_view format = number_format(verification);
  if (!verification.passed || format.empty() || format == "fp32") return {};
  return "right in " + format_words(format);
}

std::string declare_hint(const Verification& verification) {
  const std::string& found = verification.precision;
  if (!verification.passed || found.empty() || !verification.declared_precision.empty()) return {};
  const std::size_t either = found.find('/');
  return either == std::string::npos ? fmt::format("; --precision {} declares it", found)
                                     : fmt::format("; --precision {} or {} declares which",
                                                   found.substr(0, either), found.substr(either + 1));
}

std::string unlike_formats(const TimeComparison& time) {
  if (time.has_like_formats) return {};
  return unlike_formats(UnlikeFormats{time.format_a, time.format_b});
}

std::string unlike_formats(const std::optional<UnlikeFormats>& formats) {
  if (!formats) return {};
  return fmt::format(", in {} against {}", format_words(formats->b), format_words(formats->a));
}

std::string precision_note(const CaseResult& result) {
  const OpResult* worst = nullptr;
  for (const OpResult& op : result.ops) {
    if (!op.verification || right_in(*op.verification).empty()) continue;
    if (worst == nullptr || op.verification->relative_l2 > worst->verification->relative_l2) worst = &op;
  }
  if (!result.ok() || worst == nullptr) return {};
  return fmt::format("{}: relative L2 error {} ({}), tolerance {}{}", right_in(*worst->verification),
                     format::scientific(worst->verification->relative_l2), format::one_line(worst->info.name),
                     format::scientific(worst->verification->tolerance), declare_hint(*worst->verification));
}

}  // namespace mprof
