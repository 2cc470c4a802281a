// SPDX-License-Identifier: MIT
#include "report/wording/advice.hpp"

#include <string_view>

#include <fmt/format.h>

#include "report/wording/why.hpp"

namespace mprof {
namespace {

std::string_view name_of(AdviceEvidence evidence) {
  switch (evidence) {
    case AdviceEvidence::kernels:
      return "its kernels";
    case AdviceEvidence::dram_bytes:
      return "its DRAM bytes";
    case AdviceEvidence::copies_and_host:
      return "its copies and what the host did";
    case AdviceEvidence::time_budget:
      break;
  }
  return "its time budget";
}

/// Of the variant, not of what is missing.
bool is_flaw(Because because) {
  return because == Because::works_elsewhere || because == Because::copies_in_forward ||
         because == Because::prints_copies || because == Because::prints_too_little;
}

}  // namespace

std::string not_judged_text(const NotJudged& missing) {
  const std::string why = say(missing.why);
  if (is_flaw(missing.why.because))
    return fmt::format("{} (it {}, so its op time is not theirs)", name_of(missing.evidence), why);
  return fmt::format("{} ({})", name_of(missing.evidence), why);
}

}  // namespace mprof
