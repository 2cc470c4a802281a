// SPDX-License-Identifier: MIT
#include "report/trace/profile_text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
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
constexpr std::string_view json_begin = "{\n  \"schema\": \"mprof.stats/1\",\n  \"tables\": {\n";
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

/// Collects text, and passes it on in large pieces.
class Pieces {
 public:
  explicit Pieces(const std::function<void(std::string_view)>& write) : write_(write) {}
  Pieces& operator+=(std::string_view text) {
    constexpr std::size_t large = std::size_t{64} << 10;
    text_ += text;
    if (text_.size() >= large) pass_on();
    return *this;
  }
  void pass_on() {
    write_(text_);
    text_.clear();
  }

 private:
  const std::function<void(std::string_view)>& write_;
  std::string text_;
};

std::string padded(const std::string& text, std::size_t width, bool left) {
  const std::string space(width - std::min(width, format::width(text)), ' ');
  return left ? text + space : space + text;
}

void add_line(Pieces& text, const std::vector<std::string>& cells, const std::vector<std::size_t>& widths,
              const std::vector<ProfileColumn>& columns) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) line += gap;
    line += padded(cells[i], widths[i], columns[i].words);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  text += line;
  text += "\n";
}

std::vector<std::string> texts_of(const ProfileTable& table, std::size_t index) {
  const ProfileRow row = table.row(index);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < row.size(); ++i) texts.push_back(cell_text(row[i], table.columns[i]));
  return texts;
}

void add_as_text(const ProfileTable& table, Pieces& text) {
  text += fmt::format("{} ({})\n\n", table.title, table.name);
  if (table.rows == 0) {
    text += format::sentence_case(table.empty) + ".\n";
    return;
  }
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

void add_as_csv(const ProfileTable& table, Pieces& text) {
  for (const ProfileColumn& column : table.columns)
    text += fmt::format("{}{}", &column == &table.columns.front() ? "" : ",", column.title());
  text += "\n";
  for (std::size_t r = 0; r < table.rows; ++r) {
    const ProfileRow row = table.row(r);
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) text += ",";
      text += csv_cell(row[i], table.columns[i]);
    }
    text += "\n";
  }
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
void add_as_json(const ProfileTable& table, Pieces& text) {
  text += fmt::format("    {}: [", Json(table.name).dump());
  for (std::size_t r = 0; r < table.rows; ++r) {
    const ProfileRow row = table.row(r);
    Json object = Json::object();
    for (std::size_t i = 0; i < row.size(); ++i) {
      object[table.columns[i].title()] = json_value(row[i], table.columns[i]);
    }
    text += fmt::format("{}\n      {}", r == 0 ? "" : ",",
                        object.dump(-1, ' ', false, Json::error_handler_t::replace));
  }
  text += table.rows == 0 ? "]" : "\n    ]";
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

ProfilePrinter::ProfilePrinter(std::string_view format, std::function<void(std::string_view)> write)
    : format_(format), write_(std::move(write)) {
  require_profile_format(format_);
}

void ProfilePrinter::add(const ProfileTable& table) {
  Pieces text(write_);
  if (format_ == "csv") {
    if (!is_first_) text += "\n";
    add_as_csv(table, text);
  } else if (format_ == "json") {
    text += is_first_ ? json_begin : ",\n";
    add_as_json(table, text);
  } else {
    if (!is_first_) text += "\n\n";
    add_as_text(table, text);
  }
  text.pass_on();
  is_first_ = false;
}

void ProfilePrinter::end() {
  if (format_ != "json") return;
  if (is_first_) write_(json_begin);
  write_("\n  }\n}\n");
}

std::string render_profile(std::span<const ProfileTable> tables, std::string_view format) {
  std::string text;
  ProfilePrinter printer(format, [&](std::string_view piece) { text += piece; });
  for (const ProfileTable& table : tables) printer.add(table);
  printer.end();
  return text;
}

}  // namespace mprof
