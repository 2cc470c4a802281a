// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "report/analysis/machines/history.hpp"

namespace mprof {

struct HistoryLayout {
  std::size_t width = 0;            ///< at most so many columns of a text table; 0: no limit
  std::filesystem::path templates;  ///< empty: embedded
  bool all = false;                 ///< also the series that did not change
};

/// `format` is text, md, html or json; throws Error(usage) for any other. Markdown alone has no charts.
[[nodiscard]] std::string render_history(const History& history, std::string_view format,
                                         const HistoryLayout& layout = {});

/// The same in a file; Markdown with its charts in charts/ beside it. Returns the files written, that one
/// first. Throws Error(environment) where one cannot be written.
std::vector<std::filesystem::path> write_history(const History& history, std::string_view format,
                                                 const HistoryLayout& layout,
                                                 const std::filesystem::path& file);

}  // namespace mprof
