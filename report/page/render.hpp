// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace mprof {

/// The files that say what a report looks like: those of a user's directory first, then the embedded ones.
class Templates {
 public:
  /// An empty directory: the embedded ones alone. Throws Error(usage) when it is none.
  explicit Templates(std::filesystem::path directory = {});

  /// The text of a file by its name; throws Error(usage) when there is none.
  [[nodiscard]] std::string load(std::string_view name) const;

 private:
  std::filesystem::path directory_;
};

/// A view laid out by the template `name`.html.mustache; partials are found by name likewise. Everything from
/// the view is escaped but what a template asks for in three braces.
[[nodiscard]] std::string render_html(const Templates& templates, std::string_view name, nlohmann::json view);

/// Likewise by `name`.md.mustache, escaped for Markdown, tables aligned, with plain blanks and hyphens.
[[nodiscard]] std::string render_markdown(const Templates& templates, std::string_view name,
                                          const nlohmann::json& view);

/// Likewise by `name`.text.mustache, with nothing escaped.
[[nodiscard]] std::string render_text(const Templates& templates, std::string_view name,
                                      const nlohmann::json& view);

/// JSON that may stand inside a <script> element.
[[nodiscard]] std::string json_for_script(const nlohmann::json& value);

}  // namespace mprof
