// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "report/analysis/judgement/compare.hpp"

namespace mprof {

struct ComparisonLayout {
  std::size_t width = 0;              ///< at most so many columns of a text table; 0: no limit
  std::filesystem::path templates{};  ///< empty: embedded
  bool all = false;                   ///< also what has no change, which HTML has always
};

/// `format` is text, md, html or json; throws Error(usage) for any other.
[[nodiscard]] std::string render_comparison(const Comparison& comparison, std::string_view format,
                                            const ComparisonLayout& layout = {});

/// What a CI's page of a run has room for (GitHub's $GITHUB_STEP_SUMMARY), as Markdown of at most
/// `most_bytes`. It has the headline, what fails, and the times that changed, as many of them as fit.
[[nodiscard]] std::string render_step_summary(const Comparison& comparison,
                                              std::size_t most_bytes = std::size_t{64} << 10);

}  // namespace mprof
