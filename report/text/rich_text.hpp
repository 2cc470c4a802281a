// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Markdown that people wrote, a variant's story or the notes in a run's directory, made fit for a report in
/// both of its forms. Raw HTML in it is shown as the text that it is. No link or picture leads anywhere but
/// to the web or to a place that the report knows.
namespace mprof {

/// One text in both forms; templates place them as they are.
struct RichText {
  std::string html;      ///< block elements; no script, no raw HTML of the author's
  std::string markdown;  ///< GitHub-flavoured

  [[nodiscard]] bool empty() const { return markdown.empty(); }
};

/// What surrounds the text.
struct RichTextPlace {
  int heading_level = 5;  ///< of the text's highest headings
  /// Where a link to `address` leads that names no scheme, in HTML and in Markdown; empty: nowhere, so that
  /// its words remain without a link.
  std::function<std::string(std::string_view address)> html_link{};
  std::function<std::string(std::string_view address)> markdown_link{};
  /// Where picture files of the text lie; empty: it may have none. HTML holds them itself.
  std::filesystem::path pictures{};
};

[[nodiscard]] RichText rich_text(std::string_view markdown, const RichTextPlace& place);

/// A part of a text below one of its headings.
struct TextSection {
  std::string title;     ///< as plain text; empty: what stands before the first heading of this level
  std::string markdown;  ///< as the author wrote it, without the heading
};

/// A text cut at its headings of level 2. A heading of level 1 at the top is its title and left out.
[[nodiscard]] std::vector<TextSection> sections_of(std::string_view markdown);

/// The text of its first heading; empty without a heading.
[[nodiscard]] std::string title_of(std::string_view markdown);

}  // namespace mprof
