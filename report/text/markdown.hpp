// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace mprof::markdown {

/// Text from outside as text of GitHub-flavoured Markdown: no character of it starts markup, a cell or a
/// line.
[[nodiscard]] std::string escape(std::string_view text);

/// The same document with the cells of its tables padded, so that the source reads as a table too.
[[nodiscard]] std::string align_tables(std::string_view document);

}  // namespace mprof::markdown
