// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace mprof {

/// The files that say what a report looks like: the files of a user's directory first, then the embedded
/// ones.
class Templates {
 public:
  /// Without a directory: the embedded ones alone. Throws Error(usage) when it is not a directory.
  explicit Templates(std::filesystem::path directory = {});

  /// The text of a file by its name; throws Error(usage) for an unknown name.
  [[nodiscard]] std::string load(std::string_view name) const;

 private:
  std::filesystem::path directory_;
};

/// A view laid out by the template `name`.html.mustache; partials are found by name in the same way.
/// Everything from the view is escaped but what a template asks for in three braces.
[[nodiscard]] std::string render_html(const Templates& templates, std::string_view name,
                                      const nlohmann::json& view);

/// The same by `name`.md.mustache, escaped for Markdown, tables aligned, with plain blanks and hyphens.
[[nodiscard]] std::string render_markdown(const Templates& templates, std::string_view name,
                                          const nlohmann::json& view);

/// The same by `name`.text.mustache, with nothing escaped.
[[nodiscard]] std::string render_text(const Templates& templates, std::string_view name,
                                      const nlohmann::json& view);

/// JSON that may stand inside a <script> element.
[[nodiscard]] std::string json_for_script(const nlohmann::json& value);

}  // namespace mprof
