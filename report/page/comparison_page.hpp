#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "report/analysis/compare.hpp"

namespace mprof {

struct ComparisonLayout {
  std::size_t width = 0;            ///< columns of a text table at the most; 0: no limit
  std::filesystem::path templates;  ///< empty: embedded
};

/// `format` is text, md, html or json; throws Error(usage) for any other.
[[nodiscard]] std::string render_comparison(const Comparison& comparison, std::string_view format,
                                            const ComparisonLayout& layout = {});

}  // namespace mprof
