// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "model/metric.hpp"
#include "report/analysis/judgement/judgement.hpp"

/// The one kind of table that reports have. Cells go in as values and come out as finished, aligned strings.
namespace mprof {

/// How a cell looks beyond its text. Templates turn it into a class, never into numbers.
enum class Tone { plain, best, good, bad, quiet };

/// One cell: words, or a number in SI base units that the table prints in the unit of its column, or neither
/// with a reason, which becomes a footnote.
struct Cell {
  std::string text;
  std::optional<double> number;
  std::optional<double> sort_value;  ///< of a figure that is finished text: what a reader sorts it by
  std::string detail;                ///< small print behind the text: an interval
  std::string absent;                ///< the reason, when the cell holds nothing
  std::string note;                  ///< a footnote to a cell that does hold something
  std::string link;                  ///< an anchor on the page
  Tone tone = Tone::plain;
  bool modelled = false;
  bool unrecorded = false;  ///< absent, and nobody asked for it to be recorded

  /// Words, made fit for one line.
  [[nodiscard]] static Cell words(std::string_view text, Tone tone = Tone::plain);
  /// Words that lead to an anchor on the page.
  [[nodiscard]] static Cell words_to(std::string_view text, std::string anchor);
  /// A figure that is finished text already, such as a speed-up; say what number it is with valued().
  [[nodiscard]] static Cell figure(std::string text, std::string detail = {});
  /// A median with half the width of its interval.
  [[nodiscard]] static Cell value(const Value& value);
  /// A median alone.
  [[nodiscard]] static Cell bare(const Value& value);
  [[nodiscard]] static Cell speed_up(const SpeedUp& speed_up);
  [[nodiscard]] static Cell quality(const Value& value, Unit unit);
  [[nodiscard]] static Cell missing(const std::string& reason);
  [[nodiscard]] static Cell missing(const Why& why);
  /// Missing, since the run did not record it: "not recorded", or a closer reason.
  [[nodiscard]] static Cell not_recorded(const std::string& reason = {});
  /// A dash whose reason stands elsewhere in the row.
  [[nodiscard]] static Cell dash();

  [[nodiscard]] Cell with(Tone new_tone) && {
    tone = new_tone;
    return std::move(*this);
  }
  [[nodiscard]] Cell noted(const Why& why) &&;
  [[nodiscard]] Cell noted(std::string new_note) && {
    note = std::move(new_note);
    return std::move(*this);
  }
  /// The number that a figure's text was made from. Without it a figure counts as missing when sorted.
  [[nodiscard]] Cell valued(double new_value) && {
    sort_value = new_value;
    return std::move(*this);
  }
};

class Table {
 public:
  /// `id` is an anchor, unique on the page.
  Table(std::string id, std::string caption);

  /// A column of words.
  Table& text(std::string head);
  /// A column of the variants, which a page about a program calls programs.
  Table& variants();
  /// A column of figures. With a unit, its numbers are printed with one prefix for the whole table, named in
  /// the head.
  Table& numbers(std::string head, std::optional<Unit> unit = std::nullopt);
  /// The last column says what another one says already: text leaves it out before anything else.
  Table& spare();

  /// Cells that are left out become dashes: the ones before them say why.
  void row(std::vector<Cell> cells);
  /// Without a single number in a column with a unit, the view has no rows, and its remarks say why.
  Table& only_with_numbers();

  [[nodiscard]] bool empty() const { return rows_.empty(); }
  [[nodiscard]] std::size_t columns() const { return columns_.size(); }

  ///     { id, caption, has_rows, columns: [{head, unit, numeric, spare, variants}],
  ///       rows: [{cells: [{text, pad, detail, mark, class, link, value, absent, modelled, best, repeat}]}],
  ///       has_notes, notes: [{mark, text}], remarks: [text], unrecorded: [remark] }
  ///
  /// `value` is the number of a cell in SI base units, for a program that sorts; empty where it has no
  /// number. A column that is absent throughout for one reason becomes a remark. `unrecorded` has those
  /// remarks again that only say that the run did not record something. Rows of a large table are packed
  /// (packed_rows.hpp).
  [[nodiscard]] nlohmann::json view() const;

 private:
  struct Column {
    std::string head{};
    bool numeric = false;
    std::optional<Unit> unit{};
    bool spare = false;
    bool variants = false;
  };
  class Notes;
  /// What stands in the cells of a column, row by row.
  struct Texts {
    std::vector<std::string> texts{};
    std::vector<std::string> padding{};  ///< that puts their decimal points below each other
    std::size_t detail_width = 0;
  };

  [[nodiscard]] std::string why_absent(std::size_t column) const;
  [[nodiscard]] bool has_numbers() const;
  [[nodiscard]] std::vector<bool> columns_worth_showing(std::vector<std::string>& remarks,
                                                        std::vector<std::string>& unrecorded) const;
  [[nodiscard]] double typical(Unit unit) const;
  [[nodiscard]] Texts texts_of(std::size_t column) const;
  [[nodiscard]] nlohmann::json cell_view(std::size_t row, std::size_t column, const Texts& texts,
                                         Notes& notes) const;

  std::string id_;
  std::string caption_;
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
  bool only_with_numbers_ = false;
};

/// A table view as monospaced text, at most `width` columns wide (0: as wide as it is). To become narrower,
/// it first loses spare columns. Then it loses the small print, and the last line says so. Then the first
/// column gives way: rows that share their first cell stand below it, indented.
[[nodiscard]] std::string text_table(nlohmann::json table, std::size_t width);

}  // namespace mprof
