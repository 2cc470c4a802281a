// SPDX-License-Identifier: MIT
#include "report/text/markdown.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <vector>

#include "report/text/format.hpp"

namespace mprof::markdown {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || (static_cast<unsigned char>(c) & 0x80U);
}

/// An underscore inside a word is no emphasis, and ids read better without backslashes.
bool inside_word(std::string_view text, std::size_t at) {
  return at > 0 && at + 1 < text.size() && is_word(text[at - 1]) && is_word(text[at + 1]);
}

/// The number of a list item ("1." or "2)") that the text starts with: how long it is with its sign; 0 when
/// none.
std::size_t list_number(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const bool is_number = digits > 0 && digits < text.size() && (text[digits] == '.' || text[digits] == ')') &&
                         (digits + 1 == text.size() || text[digits + 1] == ' ');
  return is_number ? digits + 1 : 0;
}

/// Whether the character at `at` would be read as markup.
bool is_markup(std::string_view text, std::size_t at) {
  const char c = text[at];
  if (std::string_view("\\`*[]<|~$").find(c) != std::string_view::npos) return true;
  if (c == '_') return !inside_word(text, at);
  if (c == '&') return at + 1 < text.size() && (is_word(text[at + 1]) || text[at + 1] == '#');
  if (at == 0) return std::string_view("#>+-=").find(c) != std::string_view::npos;
  return at + 1 == list_number(text);
}

bool is_table_line(std::string_view line) {
  return line.size() > 1 && line.front() == '|' && line.back() == '|';
}

/// Cells between the bars; an escaped bar belongs to its cell.
std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells(1);
  for (std::size_t i = 1; i < line.size(); ++i) {
    if (line[i] == '\\' && i + 1 < line.size()) {
      cells.back() += line.substr(i++, 2);
    } else if (line[i] == '|') {
      cells.emplace_back();
    } else {
      cells.back() += line[i];
    }
  }
  cells.pop_back();
  for (std::string& cell : cells) {
    cell.erase(0, std::min(cell.find_first_not_of(' '), cell.size()));
    cell.erase(cell.find_last_not_of(' ') + 1);
  }
  return cells;
}

bool is_rule(const std::string& cell) {
  return !cell.empty() && cell.find_first_not_of("-:") == std::string::npos;
}

std::string rule(const std::string& cell, std::size_t width) {
  const bool right = cell.back() == ':';
  return std::string(width - (right ? 1 : 0), '-') + (right ? ":" : "");
}

std::string aligned(const std::vector<std::string_view>& lines) {
  std::vector<std::vector<std::string>> rows;
  std::vector<std::size_t> widths;
  for (const std::string_view line : lines) {
    rows.push_back(cells_of(line));
    widths.resize(std::max(widths.size(), rows.back().size()), 3);
    for (std::size_t i = 0; i < rows.back().size(); ++i) {
      if (!is_rule(rows.back()[i])) widths[i] = std::max(widths[i], format::width(rows.back()[i]));
    }
  }
  std::string text;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    text += "|";
    for (std::size_t i = 0; i < rows[r].size(); ++i) {
      const std::string& cell = rows[r][i];
      const bool right =
          rows.size() > 1 && i < rows[1].size() && is_rule(rows[1][i]) && rows[1][i].back() == ':';
      const std::string space(widths[i] - std::min(widths[i], format::width(cell)), ' ');
      text += " " + (r == 1 ? rule(cell, widths[i]) : right ? space + cell : cell + space) + " |";
    }
    text += "\n";
  }
  return text;
}

std::vector<std::string_view> lines_of(std::string_view document) {
  std::vector<std::string_view> lines;
  while (!document.empty()) {
    const std::size_t end = std::min(document.find('\n'), document.size());
    lines.push_back(document.substr(0, end));
    document.remove_prefix(std::min(end + 1, document.size()));
  }
  return lines;
}

}  // namespace

std::string escape(std::string_view raw) {
  const std::string text = format::one_line(raw);
  std::string escaped;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_markup(text, i)) escaped += '\\';
    escaped += text[i];
  }
  return escaped;
}

std::string align_tables(std::string_view document) {
  const std::vector<std::string_view> lines = lines_of(document);
  std::string text;
  for (auto line = lines.begin(); line != lines.end();) {
    const auto end = std::find_if_not(line, lines.end(), is_table_line);
    if (end != line) {
      text += aligned({line, end});
      line = end;
    } else {
      text.append(*line++).append("\n");
    }
  }
  return text;
}

}  // namespace mprof::markdown
