// SPDX-License-Identifier: MIT
#include "report/trace/profile_text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/text/csv.hpp"
#include "report/text/format.hpp"
#include "system/error.hpp"
#include "system/suggest.hpp"

namespace mprof {
namespace {

constexpr std::string_view gap = "  ";
constexpr std::array<std::string_view, 3> formats{"table", "csv", "json"};

template <class... Visitors>
struct Overload : Visitors... {
  using Visitors::operator()...;
};
template <class... T>
Overload(T...) -> Overload<T...>;  // Clang 14 does not deduce it

/// As `nsys stats` rounds: halves away from zero.
double half_away(double number, int decimals) {
  const double scale = std::pow(10.0, decimals);
  return std::round(number * scale) / scale;
}

std::string padded(const std::string& text, std::size_t width, bool left) {
  const std::string space(width - std::min(width, format::width(text)), ' ');
  return left ? text + space : space + text;
}

void add_line(std::string& text, const std::vector<std::string>& cells,
              const std::vector<std::size_t>& widths, const std::vector<ProfileColumn>& columns) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) line += gap;
    line += padded(cells[i], widths[i], columns[i].words);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  text += line;
  text += '\n';
}

std::vector<std::string> texts_of(const ProfileTable& table, std::size_t index) {
  const ProfileRow row = table.row(index);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < row.size(); ++i) texts.push_back(cell_text(row[i], table.columns[i]));
  return texts;
}

std::string as_text(const ProfileTable& table) {
  std::string text = fmt::format("{} ({})\n\n", table.title, table.name);
  if (table.rows == 0) return text + format::sentence_case(table.empty) + ".\n";
  std::vector<std::string> heads, rules;
  std::vector<std::size_t> widths;
  for (const ProfileColumn& column : table.columns) {
    heads.push_back(column.title());
    widths.push_back(heads.back().size());
  }
  for (std::size_t r = 0; r < table.rows; ++r) {
    const std::vector<std::string> cells = texts_of(table, r);
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], format::width(cells[i]));
  }
  for (std::size_t i = 0; i < widths.size(); ++i) {
    // The last column, names, can be hundreds of characters wide.
    rules.emplace_back(i + 1 < widths.size() ? widths[i] : heads[i].size(), '-');
  }
  add_line(text, heads, widths, table.columns);
  add_line(text, rules, widths, table.columns);
  for (std::size_t r = 0; r < table.rows; ++r) add_line(text, texts_of(table, r), widths, table.columns);
  return text;
}

/// For programs: no grouping of digits, and quotation marks where they are needed.
std::string csv_cell(const ProfileCell& cell, const ProfileColumn& column) {
  return std::visit(Overload{[](std::monostate) { return std::string(); },
                             [](std::int64_t number) { return format::plain(number); },
                             [&](double number) {
                               return format::plain(half_away(number, column.decimals), column.decimals);
                             },
                             [](const std::string& text) { return csv_field(text); }},
                    cell);
}

std::string as_csv(const ProfileTable& table) {
  std::string text;
  for (const ProfileColumn& column : table.columns) {
    text += fmt::format("{}{}", text.empty() ? "" : ",", column.title());
  }
  text += '\n';
  for (std::size_t r = 0; r < table.rows; ++r) {
    const ProfileRow row = table.row(r);
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) text += ',';
      text += csv_cell(row[i], table.columns[i]);
    }
    text += '\n';
  }
  return text;
}

using Json = nlohmann::ordered_json;

Json json_value(const ProfileCell& cell, const ProfileColumn& column) {
  return std::visit(
      Overload{[](std::monostate) { return Json(); }, [](std::int64_t number) { return Json(number); },
               [&](double number) {
                 return Json(format::rounded(half_away(number, column.decimals), column.decimals));
               },
               [](const std::string& text) { return Json(text); }},
      cell);
}

/// A row on a line, as in other records of mprof: for people, for diffs and for grep.
std::string as_json(const ProfileTable& table) {
  std::string text = fmt::format("  {}: [", Json(table.name).dump());
  for (std::size_t r = 0; r < table.rows; ++r) {
    const ProfileRow row = table.row(r);
    Json object = Json::object();
    for (std::size_t i = 0; i < row.size(); ++i) {
      object[table.columns[i].title()] = json_value(row[i], table.columns[i]);
    }
    text += fmt::format("{}\n    {}", r == 0 ? "" : ",",
                        object.dump(-1, ' ', false, Json::error_handler_t::replace));
  }
  return text + (table.rows == 0 ? "]" : "\n  ]");
}

template <class Render>
std::string joined(std::span<const ProfileTable> tables, std::string_view between, const Render& render) {
  std::string text;
  for (const ProfileTable& table : tables) {
    if (&table != &tables.front()) text += between;
    text += render(table);
  }
  return text;
}

}  // namespace

std::string cell_text(const ProfileCell& cell, const ProfileColumn& column) {
  return std::visit(Overload{[](std::monostate) { return std::string(); },
                             [](std::int64_t number) { return format::whole(number); },
                             [&](double number) {
                               return format::fixed(half_away(number, column.decimals), column.decimals);
                             },
                             [](const std::string& text) { return format::one_line(text); }},
                    cell);
}

void require_profile_format(std::string_view format) {
  if (std::ranges::find(formats, format) != formats.end()) return;
  const std::vector<std::string> known(formats.begin(), formats.end());
  throw Error(ExitCode::usage, fmt::format("--format {}: a trace has no such format.{} The formats are {}.",
                                           format, did_you_mean(format, known), format::list(known)));
}

std::string render_profile(std::span<const ProfileTable> tables, std::string_view format) {
  require_profile_format(format);
  if (format == "csv") return joined(tables, "\n", as_csv);
  if (format == "json") return fmt::format("{{\n{}\n}}\n", joined(tables, ",\n", as_json));
  return joined(tables, "\n\n", as_text);
}

}  // namespace mprof
