// SPDX-License-Identifier: MIT
#include "report/materials/sources.hpp"

#include <algorithm>
#include <cctype>
#include <optional>

#include "report/text/format.hpp"
#include "system/files.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;

/// What is longer was not written by hand, and nobody reads it in a report.
constexpr std::uintmax_t largest_source = 256 * 1024;

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::size_t indentation(const std::string& line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

bool has(std::string_view line, std::string_view word) {
  return line.find(word) != std::string_view::npos;
}

bool is_identifier(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// Just behind the parenthesis that closes the one at `open`.
std::size_t after_parentheses(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t at = open; at < text.size(); ++at) {
    depth += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0;
    if (depth == 0) return at + 1;
  }
  return text.size();
}

/// The name of the function that a declaration declares: what stands before its parameters.
std::string function_name(std::string_view declaration) {
  constexpr std::string_view bounds = "__launch_bounds__";
  std::size_t from = 0;
  if (const std::size_t at = declaration.find(bounds); at != std::string_view::npos)
    from = after_parentheses(declaration, declaration.find('(', at));
  const std::size_t open = declaration.find('(', from);
  if (open == std::string_view::npos) return {};
  std::size_t end = open;
  while (end > 0 && declaration[end - 1] == ' ') --end;
  std::size_t begin = end;
  while (begin > 0 && is_identifier(declaration[begin - 1])) --begin;
  return std::string(declaration.substr(begin, end - begin));
}

/// Where the function whose declaration begins at `line` ends: the line that closes its body, formatted as
/// this project's sources are. nullopt when it has no body.
std::optional<std::size_t> end_of_function(const std::vector<std::string>& lines, std::size_t line) {
  const std::string closing = std::string(indentation(lines[line]), ' ') + "}";
  for (std::size_t at = line, body = lines.size(); at < lines.size(); ++at) {
    if (body == lines.size() && has(lines[at], "{")) body = at;
    if (body == lines.size() && lines[at].ends_with(';')) return std::nullopt;
    if (at > body && lines[at] == closing) return at;
    if (at == body && lines[at].ends_with('}') && at > line) return at;
  }
  return std::nullopt;
}

/// With the comment and the template head that stand right above.
std::size_t with_head(const std::vector<std::string>& lines, std::size_t line) {
  const auto belongs = [&](const std::string& above) {
    const std::string_view text = std::string_view(above).substr(indentation(above));
    return text.starts_with("//") || text.starts_with("template") || text.starts_with("#pragma");
  };
  while (line > 0 && belongs(lines[line - 1])) --line;
  return line;
}

Excerpt excerpt(const std::vector<std::string>& lines, std::size_t declaration, std::size_t last) {
  const std::size_t first = with_head(lines, declaration);
  Excerpt result{{}, {}, first + 1, last + 1};
  std::string head;
  for (std::size_t at = declaration; at <= last && !has(head, "{"); ++at) head += lines[at] + " ";
  result.name = function_name(std::string_view(head).substr(
      std::min(head.find("__global__") == std::string::npos ? 0 : head.find("__global__"), head.size())));
  const std::size_t margin = indentation(lines[declaration]);
  for (std::size_t at = first; at <= last; ++at)
    result.text += lines[at].substr(std::min(margin, indentation(lines[at]))) + "\n";
  return result;
}

template <class Begins>
std::vector<Excerpt> functions(const std::vector<std::string>& lines, Begins begins) {
  std::vector<Excerpt> found;
  for (std::size_t line = 0; line < lines.size(); ++line) {
    const std::string_view text = std::string_view(lines[line]).substr(indentation(lines[line]));
    if (text.starts_with("//") || !begins(text)) continue;
    const auto last = end_of_function(lines, line);
    if (!last) continue;
    found.push_back(excerpt(lines, line, *last));
    line = *last;
  }
  return found;
}

std::string kept_file(const fs::path& directory, const fs::path& file) {
  const fs::path relative = (fs::path("kernels") / file).lexically_normal();
  const bool inside = std::distance(relative.begin(), relative.end()) > 1 && *relative.begin() == "kernels";
  std::error_code error;
  if (!inside || !fs::is_regular_file(directory / relative, error)) return {};
  if (!is_within(directory, directory / relative)) return {};
  return fs::file_size(directory / relative, error) > largest_source || error ? "" : relative.string();
}

Schematic schematic_of(const fs::path& directory, const VariantInfo& info, const std::string& code,
                       const OwnSources& own) {
  const fs::path drawing = fs::path(info.source_file).replace_extension(".svg");
  if (const std::string kept = kept_file(directory, drawing); !kept.empty())
    return read_schematic(read_file(directory / kept), kept);
  const auto own_code = own ? own(info.source_file) : std::nullopt;
  if (!own_code || format::text_block(*own_code) != code) return {};
  const auto own_drawing = own(drawing.generic_string());
  return own_drawing ? read_schematic(*own_drawing, drawing.generic_string()) : Schematic{};
}

}  // namespace

VariantSource read_source(const fs::path& directory, const VariantInfo& info, const OwnSources& own) {
  VariantSource source;
  if (directory.empty() || info.source_file.empty()) return source;
  source.file = kept_file(directory, info.source_file);
  source.story_file = kept_file(directory, fs::path(info.source_file).replace_extension(".md"));
  if (!source.file.empty()) source.code = format::text_block(read_file(directory / source.file));
  if (!source.story_file.empty()) source.story = read_file(directory / source.story_file);
  source.schematic = schematic_of(directory, info, source.code, own);
  return source;
}

std::vector<Excerpt> excerpts_of(std::string_view code) {
  const std::vector<std::string> lines = lines_of(code);
  std::vector<Excerpt> found =
      functions(lines, [](std::string_view line) { return has(line, "__global__"); });
  if (found.empty()) {
    found = functions(lines, [](std::string_view line) {
      return line.starts_with("void forward(") || line.starts_with("void launch(");
    });
  }
  return found;
}

}  // namespace mprof
