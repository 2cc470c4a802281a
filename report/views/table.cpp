// SPDX-License-Identifier: MIT
#include "report/views/table.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "report/analysis/judgement/estimate.hpp"
#include "report/text/format.hpp"
#include "report/views/packed_rows.hpp"
#include "report/wording/judgement.hpp"
#include "report/wording/why.hpp"

namespace mprof {
namespace {

using nlohmann::json;

constexpr std::string_view dash = "–";
constexpr std::size_t longest_short_words = 16;  // so few characters are not worth a second line
constexpr std::size_t gap = 2;                   // columns between two columns of a text table

/// a, b, ... z, aa, ab, ...
std::string letters(std::size_t index) {
  std::string text;
  for (++index; index > 0; index = (index - 1) / 26) {
    text.insert(text.begin(), static_cast<char>('a' + (index - 1) % 26));
  }
  return text;
}

std::string class_of(const Cell& cell, bool numeric) {
  std::string names = numeric ? "number" : "words";
  if (!numeric && format::width(cell.text) <= longest_short_words) names += " short";
  if (!cell.absent.empty()) names += " absent";
  if (cell.modelled) names += " modelled";
  if (cell.tone == Tone::best) names += " best";
  if (cell.tone == Tone::good) names += " good";
  if (cell.tone == Tone::bad) names += " bad";
  if (cell.tone == Tone::quiet) names += " quiet";
  return names;
}

/// What a program sorts a cell by, whatever unit and precision its text has.
std::string sort_value(const Cell& cell) {
  if (!cell.absent.empty()) return {};
  const std::optional<double> value = cell.number ? cell.number : cell.sort_value;
  return value && std::isfinite(*value) ? format::sortable(*value) : std::string();
}

bool is_figure(const std::string& text) {
  return text.find_first_of("0123456789") != std::string::npos;
}

/// Also an empty detail takes its place, so that the figures before it stay in line.
std::string left_pad(const std::string& text, std::size_t width) {
  std::string padded;
  for (std::size_t n = format::width(text); n < width; ++n) padded += "\u2007";
  return padded + text;
}

}  // namespace

Cell Cell::words(std::string_view text, Tone tone) {
  Cell cell;
  cell.text = format::one_line(text);
  cell.tone = tone;
  return cell;
}

Cell Cell::words_to(std::string_view text, std::string anchor) {
  Cell cell = words(format::short_id(text));
  cell.link = std::move(anchor);
  return cell;
}

Cell Cell::figure(std::string text, std::string detail) {
  Cell cell;
  cell.text = std::move(text);
  cell.detail = std::move(detail);
  return cell;
}

Cell Cell::value(const Value& value) {
  Cell cell = bare(value);
  if (!value) return cell;
  if (const auto width = relative_half_width(*value)) {
    cell.detail = format::plus_minus(*width);
    if (value->clock == ClockSource::host && value->rounds == 1) cell.note = one_round(value->borrowed);
  } else if (!value->interval && value->source == Source::measured) {
    cell.note = no_interval(*value);
  }
  if (!value->disturbed.empty()) cell.note = "disturbed: " + causes_text(value->disturbed);
  return cell;
}

Cell Cell::bare(const Value& value) {
  if (!value) return missing(value.absent);
  Cell cell;
  cell.number = value->median;
  cell.modelled = value->source == Source::modelled;
  return cell;
}

Cell Cell::speed_up(const SpeedUp& speed_up) {
  if (!speed_up) return missing(speed_up.absent);
  Cell cell = figure(format::times(*speed_up.factor)).valued(*speed_up.factor);
  if (speed_up.is_open_by_disturbance()) {
    cell.note = say(speed_up.reason);
    return cell;
  }
  cell.note = despite_text(speed_up);
  if (speed_up.interval && speed_up.interval->low > 1) cell.tone = Tone::good;
  if (speed_up.interval && speed_up.interval->high < 1) cell.tone = Tone::bad;
  return cell;
}

Cell Cell::quality(const Value& value, Unit unit) {
  return value ? figure(format::quality(value->median, unit)).valued(value->median) : missing(value.absent);
}

Cell Cell::missing(const std::string& reason) {
  Cell cell;
  cell.absent = reason.empty() ? "not recorded" : format::one_line(reason);
  cell.unrecorded = reason.empty();
  return cell;
}

Cell Cell::not_recorded(const std::string& reason) {
  Cell cell = missing(reason);
  cell.unrecorded = true;
  return cell;
}

Cell Cell::missing(const Why& why) {
  return why.because == Because::not_recorded ? not_recorded() : missing(say(why));
}

Cell Cell::noted(const Why& why) && {
  return std::move(*this).noted(say(why));
}

Cell Cell::dash() {
  return words(mprof::dash, Tone::quiet);
}

/// Footnotes: the same reason has the same mark throughout a table.
class Table::Notes {
 public:
  std::string mark(const std::string& text) {
    const auto known = std::find(texts_.begin(), texts_.end(), text);
    const auto index = static_cast<std::size_t>(known - texts_.begin());
    if (known == texts_.end()) texts_.push_back(text);
    return letters(index);
  }
  [[nodiscard]] bool any() const { return !texts_.empty(); }
  [[nodiscard]] json view() const {
    json notes = json::array();
    for (std::size_t i = 0; i < texts_.size(); ++i) {
      notes.push_back({{"mark", letters(i)}, {"text", texts_[i]}});
    }
    return notes;
  }

 private:
  std::vector<std::string> texts_;
};

Table::Table(std::string id, std::string caption) : id_(std::move(id)), caption_(std::move(caption)) {}

Table& Table::text(std::string head) {
  columns_.push_back({.head = std::move(head)});
  return *this;
}

Table& Table::variants() {
  columns_.push_back({.head = "Variant", .variants = true});
  return *this;
}

Table& Table::numbers(std::string head, std::optional<Unit> unit) {
  columns_.push_back({.head = std::move(head), .numeric = true, .unit = unit});
  return *this;
}

Table& Table::spare() {
  columns_.back().spare = true;
  return *this;
}

void Table::row(std::vector<Cell> cells) {
  cells.resize(columns_.size(), Cell::dash());
  rows_.push_back(std::move(cells));
}

Table& Table::only_with_numbers() {
  only_with_numbers_ = true;
  return *this;
}

bool Table::has_numbers() const {
  return std::any_of(rows_.begin(), rows_.end(), [](const auto& row) {
    return std::any_of(row.begin(), row.end(), [](const Cell& cell) { return cell.number.has_value(); });
  });
}

/// The median of a unit's numbers chooses the prefix: most of them read well then.
double Table::typical(Unit unit) const {
  std::vector<double> sizes;
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i].unit == unit && row[i].number) sizes.push_back(std::abs(*row[i].number));
    }
  }
  return sizes.empty() ? 0 : median(sizes);
}

/// The reason for which a whole column is absent; empty when it is not, or not for one reason.
std::string Table::why_absent(std::size_t column) const {
  if (rows_.empty()) return {};
  const std::string& reason = rows_[0][column].absent;
  const bool everywhere =
      std::all_of(rows_.begin(), rows_.end(), [&](const auto& row) { return row[column].absent == reason; });
  return everywhere ? reason : std::string();
}

std::vector<bool> Table::columns_worth_showing(std::vector<std::string>& remarks,
                                               std::vector<std::string>& unrecorded) const {
  struct Absence {
    std::string reason;
    std::vector<std::string> heads;
    bool unrecorded = false;
  };
  std::vector<bool> shown(columns_.size(), true);
  std::vector<Absence> reasons;
  bool some_figure = false;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const std::string reason = why_absent(i);
    shown[i] = reason.empty();
    some_figure = some_figure || (shown[i] && columns_[i].numeric);
    if (shown[i]) continue;
    const auto known = std::ranges::find(reasons, reason, &Absence::reason);
    if (known == reasons.end()) {
      reasons.push_back({reason, {columns_[i].head}, rows_[0][i].unrecorded});
    } else {
      known->heads.push_back(columns_[i].head);
    }
  }
  // A table whose every figure is missing keeps its columns: the reader should see what would stand there.
  if (!some_figure) return std::vector<bool>(columns_.size(), true);
  for (const Absence& one : reasons) {
    remarks.push_back(fmt::format("{}: {}", format::list(one.heads), one.reason));
    if (one.unrecorded) unrecorded.push_back(remarks.back());
  }
  return shown;
}

Table::Texts Table::texts_of(std::size_t column) const {
  const Column& head = columns_[column];
  const format::Scale scale =
      head.unit ? format::scale_for(*head.unit, typical(*head.unit)) : format::Scale{};
  const bool whole = head.unit == Unit::count && scale.divisor == 1;
  Texts texts;
  texts.texts.reserve(rows_.size());
  for (const auto& row : rows_) {
    const Cell& cell = row[column];
    texts.texts.push_back(!cell.absent.empty() ? std::string(dash)
                          : !cell.number       ? cell.text
                          : whole              ? format::fixed(*cell.number, 0)
                                               : format::significant(*cell.number / scale.divisor));
    texts.detail_width = std::max(texts.detail_width, format::width(cell.detail));
  }
  texts.padding =
      head.numeric ? format::decimal_padding(texts.texts) : std::vector<std::string>(texts.texts.size());
  return texts;
}

json Table::cell_view(std::size_t row, std::size_t column, const Texts& texts, Notes& notes) const {
  const Column& head = columns_[column];
  const Cell& cell = rows_[row][column];
  const std::string &footnote = cell.absent.empty() ? cell.note : cell.absent, &text = texts.texts[row];
  const bool repeats = column == 0 && !head.numeric && row > 0 && text == texts.texts[row - 1];
  return {{"text", text},
          {"pad", texts.padding[row]},
          {"detail", is_figure(text) ? left_pad(cell.detail, texts.detail_width) : cell.detail},
          {"mark", footnote.empty() ? "" : notes.mark(footnote)},
          {"absent", !cell.absent.empty()},
          {"modelled", cell.modelled},
          {"best", cell.tone == Tone::best},
          {"repeat", repeats},
          {"link", cell.link},
          {"value", head.numeric ? sort_value(cell) : ""},
          {"class", class_of(cell, head.numeric) + (repeats ? " repeat" : "")}};
}

json Table::view() const {
  constexpr std::size_t most_plain_rows = 100;
  std::vector<std::string> remarks, unrecorded;
  const std::vector<bool> shown = columns_worth_showing(remarks, unrecorded);
  json columns = json::array();
  json rows = json::array();
  // Footnotes are lettered as the eye meets them: row by row.
  Notes notes;
  std::vector<Texts> texts(columns_.size());
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (!shown[i]) continue;
    const auto& unit = columns_[i].unit;
    columns.push_back({{"head", columns_[i].head},
                       {"unit", unit ? format::scale_for(*unit, typical(*unit)).symbol : ""},
                       {"numeric", columns_[i].numeric},
                       {"spare", columns_[i].spare},
                       {"variants", columns_[i].variants}});
    texts[i] = texts_of(i);
  }
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    json cells = json::array();
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (shown[i]) cells.push_back(cell_view(r, i, texts[i], notes));
    }
    json row{{"cells", std::move(cells)}};
    rows.push_back(rows_.size() > most_plain_rows ? packed_row(row) : std::move(row));
  }
  if (only_with_numbers_ && !has_numbers()) rows = json::array();
  return {{"id", id_},
          {"caption", caption_},
          {"has_rows", !rows.empty()},
          {"columns", std::move(columns)},
          {"rows", std::move(rows)},
          {"has_notes", notes.any() || !remarks.empty()},
          {"notes", notes.view()},
          {"remarks", remarks},
          {"unrecorded", unrecorded}};
}

namespace {

/// Figure, punctuation and no-break spaces are for proportional fonts; plain ones do here.
std::string plain_spaces(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size();) {
    const bool wide = text.substr(at).starts_with("\u2007") || text.substr(at).starts_with("\u2008");
    const bool no_break = text.substr(at).starts_with("\u00a0");
    plain += wide || no_break ? ' ' : text[at];
    at += wide ? 3 : no_break ? 2 : 1;
  }
  return plain;
}

std::string printed(const json& cell, bool with_detail) {
  std::string text = cell["text"];
  const std::string detail = cell["detail"], mark = cell["mark"], pad = cell["pad"];
  text += pad;
  if (!detail.empty() && with_detail) text += fmt::format(" {}", detail);
  if (!mark.empty()) text += fmt::format("[{}]", mark);
  return plain_spaces(text);
}

std::string padded(const std::string& text, std::size_t width, bool right) {
  const std::string space(width - std::min(width, format::width(text)), ' ');
  return right ? space + text : text + space;
}

std::string line_of(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths,
                    const std::vector<bool>& right) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) line += std::string(gap, ' ');
    line += padded(cells[i], widths[i], right[i]);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string head_of(const json& column) {
  const std::string head = column["head"], unit = column["unit"];
  return unit.empty() ? head : fmt::format("{} ({})", head, unit);
}

/// The lines of a text table before they are aligned: cells, and what stands above a group of rows.
struct TextLayout {
  std::vector<std::vector<std::string>> lines{{}};
  std::vector<std::string> groups{""};
  std::vector<bool> right;
  std::vector<std::size_t> widths;

  [[nodiscard]] std::size_t total() const {
    return std::accumulate(widths.begin(), widths.end(), gap * (widths.size() - 1));
  }
};

/// A table's view without its spare columns.
json without_spare(json table) {
  for (std::size_t i = table["columns"].size(); i-- > 0;) {
    if (!table["columns"][i]["spare"]) continue;
    table["columns"].erase(i);
    for (json& row : table["rows"]) row["cells"].erase(i);
  }
  return table;
}

bool has_details(const json& table) {
  return std::ranges::any_of(table["rows"], [](const json& row) {
    return std::ranges::any_of(row["cells"], [](const json& cell) { return cell["detail"] != ""; });
  });
}

TextLayout lay_out(const json& table, bool with_details) {
  TextLayout layout;
  const bool grouped = std::any_of(table["rows"].begin(), table["rows"].end(),
                                   [](const json& row) { return row["cells"][0]["repeat"].get<bool>(); });
  for (const json& column : table["columns"]) {
    layout.lines[0].push_back(head_of(column));
    layout.right.push_back(column["numeric"]);
  }
  for (const json& row : table["rows"]) {
    layout.lines.emplace_back();
    for (const json& cell : row["cells"]) layout.lines.back().push_back(printed(cell, with_details));
    layout.groups.push_back(grouped && !row["cells"][0]["repeat"] ? layout.lines.back()[0] : "");
  }
  for (auto& line : layout.lines) {
    if (grouped) line[0].clear();
    layout.widths.resize(line.size(), 0);
    for (std::size_t i = 0; i < line.size(); ++i) {
      layout.widths[i] = std::max(layout.widths[i], format::width(line[i]));
    }
  }
  return layout;
}

}  // namespace

std::string text_table(json table, std::size_t width) {
  unpack(table);
  constexpr std::size_t narrowest = 12;  // an id of fewer characters tells nothing
  const auto fits = [width](const TextLayout& layout) { return width == 0 || layout.total() <= width; };
  TextLayout layout = lay_out(table, true);
  if (!fits(layout)) layout = lay_out(without_spare(table), true);
  const bool is_short = !fits(layout) && has_details(table);
  if (!fits(layout)) layout = lay_out(table, false);
  if (!fits(layout)) layout = lay_out(without_spare(table), false);
  if (!fits(layout)) {
    std::size_t& first = layout.widths[0];
    first = std::max(std::min(narrowest, first), first - std::min(first, layout.total() - width));
    std::vector<std::string> names;
    for (const auto& line : layout.lines) names.push_back(line[0]);
    names = format::elide_apart(names, first);
    for (std::size_t i = 0; i < names.size(); ++i) layout.lines[i][0] = std::move(names[i]);
  }
  std::string text;
  for (std::size_t i = 0; i < layout.lines.size(); ++i) {
    const std::string& group = layout.groups[i];
    if (!group.empty()) text += fmt::format("{}\n", width > 0 ? format::elide(group, width) : group);
    text += line_of(layout.lines[i], layout.widths, layout.right);
  }
  if (is_short) text += "(intervals are left out: they need a wider terminal)\n";
  return text;
}

}  // namespace mprof
