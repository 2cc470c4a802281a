// SPDX-License-Identifier: MIT
#include "inputs/ncu_csv.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include <boost/locale/encoding_utf.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/foreign_file.hpp"
#include "model/metric_presets.hpp"
#include "system/error.hpp"
#include "system/files.hpp"
#include "system/numbers.hpp"

namespace mprof {
namespace {

constexpr std::string_view csv_next_step =
    "Give what `ncu --csv` printed, as `ncu --csv --page raw PROGRAM > FILE` or, of a report, `ncu --import "
    "REPORT --csv --page raw > FILE`.";

[[noreturn]] void refuse_csv(const std::string& name, std::string_view problem) {
  throw Error(ExitCode::usage, fmt::format("{}: {}. {}", name, problem, csv_next_step));
}
[[noreturn]] void refuse_csv(const std::string& name, std::size_t line, std::string_view problem) {
  refuse_csv(name, fmt::format("line {}: {}", line, problem));
}

// --- Text ---

/// What is no UTF-16 is left out.
std::string from_utf16(std::string_view bytes, std::endian order) {
  std::u16string units(bytes.size() / 2, u'\0');
  std::memcpy(units.data(), bytes.data(), 2 * units.size());
  if (order != std::endian::native) {
    for (char16_t& unit : units) unit = static_cast<char16_t>(unit << 8 | unit >> 8);
  }
  return boost::locale::conv::utf_to_utf<char>(units);
}

/// UTF-8, whatever the file is in.
std::string decoded(std::string_view bytes) {
  if (bytes.starts_with("\xEF\xBB\xBF")) return std::string(bytes.substr(3));
  if (bytes.starts_with("\xFF\xFE")) return from_utf16(bytes.substr(2), std::endian::little);
  if (bytes.starts_with("\xFE\xFF")) return from_utf16(bytes.substr(2), std::endian::big);
  // Without a mark: of ASCII in UTF-16 every other byte is 0.
  if (bytes.size() >= 2 && bytes[1] == '\0' && bytes[0] != '\0')
    return from_utf16(bytes, std::endian::little);
  if (bytes.size() >= 2 && bytes[0] == '\0' && bytes[1] != '\0') return from_utf16(bytes, std::endian::big);
  return std::string(bytes);
}

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

/// "(384, 1, 1)"
std::optional<std::array<std::uint32_t, 3>> parse_size(std::string_view text) {
  std::array<std::uint32_t, 3> size{};
  std::size_t axis = 0;
  for (std::size_t i = 0; i < text.size();) {
    if (!is_digit(text[i])) {
      ++i;
      continue;
    }
    if (axis == size.size()) return std::nullopt;
    const auto [end, error] = std::from_chars(text.data() + i, text.data() + text.size(), size.at(axis++));
    if (error != std::errc()) return std::nullopt;
    i = static_cast<std::size_t>(end - text.data());
  }
  return axis == size.size() ? std::optional(size) : std::nullopt;
}

// --- Rows ---

struct CsvRow {
  std::size_t line = 0;  ///< from 1
  bool is_quoted = false;
  bool is_last = false;  ///< the text ends in it, without an end of the line
  bool is_open = false;  ///< and within quotes
  std::vector<std::string> fields{};
};

bool is_csv_head(const std::vector<std::string>& fields) {
  const auto has = [&](std::string_view name) { return std::ranges::find(fields, name) != fields.end(); };
  return has("Kernel Name") && (has("ID") || has("Invocations") || has("Metric Name"));
}

/// The rows of tables in a text that holds other lines as well.
class Lines {
 public:
  Lines(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }

  /// The next line, if it looks like a table's row or head; nullopt for any other, which is left behind.
  std::optional<CsvRow> next(bool is_quoted) {
    const std::string_view line = current();
    if (line.find("Kernel Name") != line.npos) {
      if (auto head = this->head(line)) return head;
    }
    if (!begins_row(line, is_quoted)) {
      if (line.starts_with("==ERROR==") && errors_.size() < most_errors) errors_.emplace_back(trimmed(line));
      leave(line.size());
      return std::nullopt;
    }
    return row();
  }
  /// What ncu said of errors around the tables.
  [[nodiscard]] const std::vector<std::string>& errors() const { return errors_; }

 private:
  [[nodiscard]] std::string_view current() const {
    return text_.substr(at_, std::min(text_.find('\n', at_), text_.size()) - at_);
  }
  void leave(std::size_t length) {
    at_ += length + 1;
    ++line_;
  }
  static std::string_view trimmed(std::string_view line) {
    return line.substr(0, line.find_last_not_of(" \r\t") + 1);
  }

  /// A spreadsheet that saves a table separates by semicolons or tabs. From a head on, its separator holds.
  std::optional<CsvRow> head(std::string_view line) {
    const std::size_t first = line.find_first_of(",;\t");
    if (first == line.npos) return std::nullopt;
    const std::size_t at = at_, number = line_;
    const char before = std::exchange(separator_, line[first]);
    CsvRow row = this->row();
    if (is_csv_head(row.fields)) return row;
    at_ = at;
    line_ = number;
    separator_ = before;
    return std::nullopt;
  }

  /// A row begins with the number of a launch or of a process; the row of units with nothing.
  [[nodiscard]] bool begins_row(std::string_view line, bool is_quoted) const {
    if (is_quoted) {
      if (!line.starts_with('"')) return false;
      line.remove_prefix(1);
    }
    const std::size_t digits = std::min(line.find_first_not_of("0123456789"), line.size());
    if (digits == line.size()) return is_quoted || digits > 0;
    return line.substr(digits).starts_with(is_quoted ? '"' : separator_);
  }

  /// A field in quotes may hold separators, quotes that are doubled and ends of lines.
  CsvRow row() {
    CsvRow row{.line = line_, .is_quoted = text_[at_] == '"'};
    for (;;) {
      row.fields.push_back(at_ < text_.size() && text_[at_] == '"' ? quoted(row) : plain());
      row.is_last = at_ >= text_.size();
      if (row.is_last) break;
      const char c = text_[at_++];
      if (c == '\n') break;
    }
    ++line_;
    return row;
  }

  std::string plain() {
    const std::array<char, 2> ends{separator_, '\n'};
    const std::size_t end =
        std::min(text_.find_first_of(std::string_view(ends.data(), ends.size()), at_), text_.size());
    std::string field(text_.substr(at_, end - at_));
    at_ = end;
    if (field.ends_with('\r')) field.pop_back();
    return field;
  }

  /// Quotes that stay open are those of a row at which the file was cut off, or swallow what follows.
  std::string quoted(CsvRow& row) {
    std::string field;
    const std::size_t line = line_;
    for (++at_; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') ++line_;
      const bool is_doubled = c == '"' && at_ + 1 < text_.size() && text_[at_ + 1] == '"';
      if (c == '"' && !is_doubled) {
        ++at_;
        field += plain();  // what stands behind the quote: nothing, or a carriage return
        return field;
      }
      if (is_doubled) ++at_;
      field += c;
    }
    if (line_ != line) refuse_csv(name_, row.line, "the row has quotes that never end");
    row.is_open = true;
    return field;
  }

  static constexpr std::size_t most_errors = 4;
  std::string_view text_;
  const std::string& name_;
  std::vector<std::string> errors_;
  char separator_ = ',';
  std::size_t at_ = 0;
  std::size_t line_ = 1;
};

// --- Numbers ---

/// A number as it is printed, and where.
struct Digits {
  std::string text;
  std::size_t line = 0;
};

/// What stands between thousands, apart from the point and the comma.
std::string without_spaces(std::string_view text) {
  std::string kept;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    if (rest.starts_with("\xC2\xA0")) {
      i += 1;
    } else if (rest.starts_with("\xE2\x80\xAF")) {
      i += 2;
    } else if (text[i] != ' ' && text[i] != '\'') {
      kept += text[i];
    }
  }
  return kept;
}

bool is_numeric(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty() || !is_digit(text.front())) return false;
  const std::size_t end = std::min(text.find_first_not_of("0123456789.,"), text.size());
  if (end == text.size()) return true;
  std::string_view power = text.substr(end);
  if (power.front() != 'e' && power.front() != 'E') return false;
  power.remove_prefix(1);
  if (power.starts_with('-') || power.starts_with('+')) power.remove_prefix(1);
  return !power.empty() && std::ranges::all_of(power, is_digit);
}

/// The mark before the decimals, as a number shows it; nullopt where it could be either.
std::optional<char> decimal_mark(std::string_view text) {
  const std::size_t last = text.find_last_of(".,");
  if (last == text.npos) return std::nullopt;
  const char mark = text[last];
  const char other = mark == '.' ? ',' : '.';
  if (text.find(other) != text.npos) return mark;
  if (std::ranges::count(text, mark) > 1) return other;
  const std::size_t sign = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
  const std::size_t before = last - sign;
  const std::size_t after = std::min(text.find_first_of("eE"), text.size()) - last - 1;
  const bool can_be_thousands = after == 3 && before <= 3 && text[sign] != '0' && before > 0;
  return can_be_thousands ? std::nullopt : std::optional(mark);
}

/// Reads the numbers of a file, which are all of one language: it says nowhere which.
class Numbers {
 public:
  explicit Numbers(const std::string& name) : name_(name) {}

  /// A number may be 1,234 of either language until another one tells them apart.
  void look_at(const Digits& digits) {
    const auto mark = decimal_mark(digits.text);
    if (!mark) return;
    if (!telling_) telling_ = digits;
    const char known = *decimal_mark(telling_->text);
    if (known == *mark) return;
    refuse_csv(name_, digits.line,
               fmt::format("{} and {} (line {}) cannot be numbers of one language", digits.text,
                           telling_->text, telling_->line));
  }

  [[nodiscard]] double value(const Digits& digits) const {
    const char mark = telling_ ? *decimal_mark(telling_->text) : '.';
    std::string plain;
    for (const char c : digits.text) {
      if (c == mark) {
        plain += '.';
      } else if (c != '.' && c != ',' && c != '+') {
        plain += c;
      }
    }
    const auto value = parse_as<double>(plain);
    if (!value || !std::isfinite(*value))
      refuse_csv(name_, digits.line, fmt::format("{} is no number", digits.text));
    return *value;
  }

 private:
  const std::string& name_;
  std::optional<Digits> telling_;
};

// --- Tables ---

/// The columns of a table by their names.
class Head {
 public:
  static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

  Head() = default;
  explicit Head(std::vector<std::string> names) : names_(std::move(names)) {}

  [[nodiscard]] bool empty() const { return names_.empty(); }
  [[nodiscard]] std::size_t size() const { return names_.size(); }
  [[nodiscard]] const std::string& name(std::size_t column) const { return names_[column]; }
  [[nodiscard]] std::size_t find(std::string_view name) const {
    const auto found = std::ranges::find(names_, name);
    return found == names_.end() ? none : static_cast<std::size_t>(found - names_.begin());
  }
  [[nodiscard]] bool has(std::string_view name) const { return find(name) != none; }
  /// Of a row; "" where the table has no such column.
  [[nodiscard]] std::string text(const CsvRow& row, std::string_view name) const {
    const std::size_t column = find(name);
    return column < row.fields.size() ? row.fields[column] : std::string();
  }

 private:
  std::vector<std::string> names_;
};

/// A number of units, as near to the decimal one as can be: 5 us is 5e-6 s.
double in_base_units(double value, double unit) {
  return unit < 1 ? value / std::round(1 / unit) : value * unit;
}

/// Launches are told apart by process and number, and where there is none by what was launched; and by the
/// execution that they are of, where several were written into one file.
using LaunchKey = std::tuple<std::size_t, std::int64_t, std::int64_t, std::string, std::string, std::string>;

/// Which of what ncu said says why there is nothing, and what to do.
std::string why_nothing(const std::vector<std::string>& errors) {
  const auto forbidden = std::ranges::find_if(
      errors, [](const std::string& error) { return error.find("ERR_NVGPUCTRPERM") != error.npos; });
  if (forbidden != errors.end())
    return fmt::format(
        "ncu said: {} Run ncu as root, or have the administrator allow counters to all users "
        "(the driver's option NVreg_RestrictProfilingToAdminUsers=0), and profile again.",
        *forbidden);
  return fmt::format("ncu said: {} Profile again.", errors.front());
}

/// Whether a metric's numbers mean nothing without their unit: ncu prints times, bytes and rates with a
/// prefix that it chooses. Shares and counts have none.
bool needs_unit(std::string_view metric) {
  constexpr std::array<std::string_view, 3> signs{"time", "duration", "per_second"};
  const bool is_share = metric.find(".pct") != metric.npos || metric.find(".ratio") != metric.npos;
  if (!is_share && metric.find("bytes") != metric.npos) return true;  // also of a cycle
  const auto unit = unit_of_metric(metric);
  if (unit) return *unit != Unit::percent && *unit != Unit::ratio && *unit != Unit::count;
  return std::ranges::any_of(signs, [&](std::string_view sign) { return metric.find(sign) != metric.npos; });
}

class Parser {
 public:
  Parser(std::string_view text, const std::string& name) : lines_(text, name), name_(name), numbers_(name) {}

  NcuReport parse() {
    bool is_quoted = true;
    while (!lines_.at_end()) {
      const auto row = lines_.next(is_quoted);
      if (!row) continue;
      if (is_csv_head(row->fields)) {
        is_quoted = row->is_quoted;
        begin_table(*row);
      } else if (!head_.empty()) {
        if (is_cut(*row)) {
          report_.notes.push_back(
              fmt::format("the file was cut off in line {}. That row was left out, and what follows it is "
                          "missing",
                          row->line));
        } else {
          add(*row);
        }
      }
    }
    if (launches_.empty()) refuse_empty();
    for (const std::string& error : lines_.errors())
      report_.notes.push_back(fmt::format("ncu said: {}", error));
    return report();
  }

 private:
  /// The last row of a file whose writer was stopped: what it lacks is no fault of the rest.
  [[nodiscard]] bool is_cut(const CsvRow& row) const {
    const std::size_t columns = is_long_ ? value_column_ + 1 : head_.size();
    return row.is_open || (row.is_last && row.fields.size() < columns);
  }

  [[noreturn]] void refuse_empty() const {
    if (!lines_.errors().empty())
      throw Error(ExitCode::usage, fmt::format("{}: {}", name_, why_nothing(lines_.errors())));
    if (!report_.notes.empty()) refuse_csv(name_, "it has no whole row: the file was cut off");
    if (head_.empty()) refuse_csv(name_, "there is no table of Nsight Compute in it");
    refuse_csv(name_, "its table has no launch: no kernel was profiled");
  }

  /// A value whose number can be read only when all are known.
  struct Pending {
    LaunchKey launch;
    std::string metric;
    Digits digits;  ///< empty text: n/a
    double unit = 1;
  };

  /// A head that comes again is of another execution, whose launches are numbered from the start.
  void begin_table(const CsvRow& row) {
    head_ = Head(row.fields);
    execution_ = heads_[row.fields]++;
    units_.clear();
    is_long_ = head_.has("Metric Name");
    value_column_ = head_.find(head_.has("Metric Value") ? "Metric Value" : "Average");
    if (is_long_ && value_column_ == Head::none)
      refuse_csv(name_, row.line, "the table has neither a column Metric Value nor one Average");
  }

  void add(const CsvRow& row) {
    const std::string first = row.fields.front();
    if (first.empty() && !is_long_) {
      units_ = row.fields;
      return;
    }
    if (is_long_) {
      add_metric(row);
    } else {
      add_launch(row);
    }
  }

  LaunchKey launch(const CsvRow& row) {
    const std::string id = head_.text(row, "ID"), process = head_.text(row, "Process ID");
    NcuLaunch launch;
    launch.kernel = head_.text(row, "Kernel Name");
    launch.program = head_.text(row, "Process Name");
    launch.id = parse_as<std::int64_t>(id).value_or(0);
    launch.process = parse_as<std::int64_t>(process).value_or(0);
    launch.grid = parse_size(head_.text(row, "Grid Size"));
    launch.block = parse_size(head_.text(row, "Block Size"));
    if (head_.has("Invocations")) {
      const auto count = parse_as<std::int64_t>(head_.text(row, "Invocations"));
      if (!count || *count < 1)
        refuse_csv(name_, row.line,
                   fmt::format("'{}' is no number of invocations", head_.text(row, "Invocations")));
      launch.invocations = static_cast<std::uint64_t>(*count);
    }
    if (launch.kernel.empty()) refuse_csv(name_, row.line, "the row names no kernel");
    if (std::string cc = head_.text(row, "CC"); !cc.empty()) {
      std::ranges::replace(cc, ',', '.');  // as a spreadsheet of another language has it
      report_.compute_capability = std::move(cc);
    }
    const bool numbered = head_.has("ID");
    LaunchKey key{execution_, launch.process, launch.id, launch.kernel, "", ""};
    if (!numbered)
      key = {execution_,
             launch.process,
             0,
             launch.kernel,
             head_.text(row, "Grid Size"),
             head_.text(row, "Block Size")};
    launches_.try_emplace(key, std::move(launch));
    return key;
  }

  /// A row of the details page, or of its summary.
  void add_metric(const CsvRow& row) {
    if (row.fields.size() <= value_column_) {
      refuse_csv(name_, row.line,
                 fmt::format("{} columns, expected {} up to {}", row.fields.size(), value_column_ + 1,
                             head_.name(value_column_)));
    }
    const std::string label = head_.text(row, "Metric Name");
    const LaunchKey key = launch(row);
    if (label.empty()) return;  // what a rule says
    const std::string unit = head_.text(row, "Metric Unit");
    const std::string_view metric = ncu_metric(head_.text(row, "Section Name"), label, unit);
    if (!metric.empty()) {
      add_value(key, std::string(metric), row.fields[value_column_], ncu_unit(unit), row.line);
    } else if (is_numeric(without_spaces(row.fields[value_column_]))) {
      unknown_.insert(label);
    }
  }

  /// A row of the raw page.
  void add_launch(const CsvRow& row) {
    if (row.fields.size() < head_.size()) {
      refuse_csv(
          name_, row.line,
          fmt::format("{} columns, expected {} as in the table's head", row.fields.size(), head_.size()));
    }
    const LaunchKey key = launch(row);
    constexpr std::string_view attribute = "device__attribute_";
    for (std::size_t i = 0; i < head_.size(); ++i) {
      const std::string& metric = head_.name(i);
      if (metric.starts_with(attribute)) {
        report_.device.try_emplace(metric.substr(attribute.size()), row.fields[i]);
        continue;
      }
      const bool is_metric = metric.find("__") != metric.npos && metric.find_first_of(": ") == metric.npos;
      if (!is_metric) continue;
      if (units_.empty() && needs_unit(metric)) {
        if (is_numeric(without_spaces(row.fields[i]))) without_unit_.insert(metric);
        continue;
      }
      const double unit = i < units_.size() ? ncu_unit(units_[i]) : 1;
      add_value(key, metric, row.fields[i], unit, row.line);
    }
  }

  /// Words, such as CachePreferNone, are no values.
  void add_value(const LaunchKey& key, std::string metric, const std::string& text, double unit,
                 std::size_t line) {
    constexpr std::array<std::string_view, 6> none{"n/a", "nan", "-nan", "inf", "(!) n/a", "(!) nan"};
    Pending value{key, std::move(metric), {without_spaces(text), line}, unit};
    if (std::ranges::find(none, text) != none.end()) {
      value.digits.text.clear();
    } else if (is_numeric(value.digits.text)) {
      numbers_.look_at(value.digits);
    } else {
      return;
    }
    values_.push_back(std::move(value));
  }

  /// In an order that is not the file's.
  NcuReport report() {
    for (const Pending& pending : values_) {
      NcuValue value{pending.metric, std::nullopt};
      if (!pending.digits.text.empty())
        value.value = in_base_units(numbers_.value(pending.digits), pending.unit);
      launches_.at(pending.launch).values.push_back(std::move(value));
    }
    for (auto& [key, launch] : launches_) {
      std::ranges::sort(launch.values, {}, [](const NcuValue& v) {
        return std::tuple(std::string_view(v.metric), !v.value, v.value);
      });
      // Clang 14 has no std::ranges::unique.
      launch.values.erase(
          std::unique(launch.values.begin(), launch.values.end(),
                      [](const NcuValue& a, const NcuValue& b) { return a.metric == b.metric; }),
          launch.values.end());
      report_.launches.push_back(std::move(launch));
    }
    if (!without_unit_.empty())
      report_.notes.push_back(fmt::format(
          "the table has no row of units below its head, so what these numbers count is not known. "
          "They were left out: {}",
          fmt::join(without_unit_, ", ")));
    report_.unknown.assign(unknown_.begin(), unknown_.end());
    return std::move(report_);
  }

  Lines lines_;
  const std::string& name_;
  Numbers numbers_;
  Head head_;
  std::map<std::vector<std::string>, std::size_t> heads_;  ///< how often each came
  std::size_t execution_ = 0;
  std::vector<std::string> units_;
  bool is_long_ = false;  ///< a row a metric, and not a row a launch
  std::size_t value_column_ = Head::none;
  std::map<LaunchKey, NcuLaunch> launches_;
  std::vector<Pending> values_;
  std::set<std::string> unknown_;
  std::set<std::string> without_unit_;  ///< metrics of tables without a row of units
  NcuReport report_;
};

}  // namespace

NcuReport parse_ncu_csv(std::string_view bytes, const std::string& name) {
  const std::string text = decoded(bytes);
  if (text.find("Kernel Name") == text.npos) {
    if (const std::string is = what_it_is(text, name); !is.empty())
      throw Error(ExitCode::usage, fmt::format("{}: {}", name, is));
  }
  return Parser(text, name).parse();
}

NcuReport read_ncu_csv(const std::filesystem::path& path) {
  return parse_ncu_csv(read_file(path), path.string());
}

}  // namespace mprof
