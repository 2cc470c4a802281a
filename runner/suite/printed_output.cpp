// SPDX-License-Identifier: MIT
#include "runner/suite/printed_output.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "model/trace/program.hpp"
#include "runner/suite/verification.hpp"
#include "system/temporary_folder.hpp"

namespace mprof {
namespace {

/// Of a line only so much is kept: what prints without an end of line shall not fill the memory, B.
constexpr std::size_t longest_line = 4096;

/// So many lines with one number are kept, and so many ops without names are told apart.
constexpr std::size_t most_lines = 100'000, most_ops = 1000;

/// Less than reading a clock twice takes: of a time in another unit than ns such a number is none.
constexpr double shortest_time = 1e-7;  // s
constexpr double nano = 1e-9;

/// Why what was printed is no value of this number; empty: it is one.
std::string flaw_of(const SuiteNumber& number, const PrintedNumber& found) {
  if (!found.fits)
    return fmt::format("the program printed \"{}\" where \"{}\" has its number", found.text,
                       number.pattern.text());
  const std::string text =
      found.unit_word.empty() ? found.text : fmt::format("{} {}", found.text, found.unit_word);
  if (found.is_ambiguous)
    return fmt::format("the program printed {}, whose separators can be read in two ways", text);
  if (!found.value) return fmt::format("the program printed {}, which is no number", text);
  if (!number.is_of_ops()) return {};
  if (*found.value <= 0) return fmt::format("the program printed {}: a time is more than 0", text);
  if (*found.value < shortest_time && found.scale > nano)
    return fmt::format("the program printed {}: no clock can time so little", text);
  return {};
}

using Lines = std::vector<const PrintedNumber*>;

/// Those that were printed, each a sample; or the reason why there are none.
Measurement printed(const SuiteNumber& number, const std::string& op, const Lines& lines,
                    std::string absent) {
  Measurement row{.metric = number.metric, .op = op, .source = Source::printed};
  if (!lines.empty()) absent.clear();
  for (const PrintedNumber* line : lines) {
    if (absent.empty()) absent = flaw_of(number, *line);
  }
  row.absent = std::move(absent);
  if (!row.absent.empty()) return row;
  for (const PrintedNumber* line : lines) row.samples.push_back(*line->value);
  return row;
}

/// How long the sequence is that `text` begins with and that a terminal does not show: colours, character
/// sets, titles. 0: there is none.
std::size_t length_of_escape(std::string_view text) {
  if (!text.starts_with('\x1b') || text.size() < 2) return 0;
  std::size_t at = 2;
  if (text[1] == '[') {
    while (at < text.size() && (text[at] < '@' || text[at] > '~')) ++at;
    return at + 1;
  }
  if (text[1] == ']') return std::min(text.find_first_of("\a\\", at), text.size()) + 1;
  return text[1] == '(' || text[1] == ')' ? 3 : 2;
}

/// What a terminal shows of a line.
std::string without_escapes(std::string_view line) {
  std::string plain;
  while (!line.empty()) {
    const std::size_t length = length_of_escape(line);
    if (length == 0) plain += line.front();
    line.remove_prefix(std::min(line.size(), std::max<std::size_t>(length, 1)));
  }
  return plain;
}

class PrintedOutput final : public OutputReader {
 public:
  PrintedOutput(SuiteCase of, Pass pass)
      : of_(std::move(of)), pass_(pass), folder_("mprof-output"), path_(folder_.path() / "output") {
    if (of_.program->verification) file_.open(path_, std::ios::binary);
  }

  void take(std::string_view output) override {
    if (file_.is_open()) file_.write(output.data(), static_cast<std::streamsize>(output.size()));
    while (!output.empty()) {
      const std::size_t end = output.find_first_of("\n\r");
      const std::size_t room = longest_line - std::min(longest_line, line_.size());
      line_ += output.substr(0, std::min(end, room));
      if (end == std::string_view::npos) return;
      output[end] == '\r' ? read_state() : read_line();
      output.remove_prefix(end + 1);
    }
  }

  std::vector<std::string> finish(PassResult& result) override {
    read_line();
    std::vector<std::string> ops;
    if (pass_ == Pass::timing) ops = add_numbers(result);
    verify(result);
    return ops;
  }

 private:
  /// What stands in a line until a carriage return lets the program write over it: of a progress bar the last
  /// state with a number counts.
  void read_state() {
    const std::string line = without_escapes(line_);
    is_cut_ = is_cut_ || line_.size() == longest_line;
    line_.clear();
    for (const SuiteNumber& number : of_.suite->numbers) {
      auto found = number.pattern.find(line);
      if (found && (found->fits || !in_line_[number.metric].fits))
        in_line_[number.metric] = *std::move(found);
    }
  }

  void read_line() {
    read_state();
    for (const SuiteNumber& number : of_.suite->numbers) {
      const auto found = in_line_.find(number.metric);
      if (found != in_line_.end()) keep(number, std::move(found->second));
    }
    in_line_.clear();
  }

  /// Of a quality the last one counts. Of a time one more than may be is kept, to know that they are too
  /// many.
  void keep(const SuiteNumber& number, PrintedNumber found) {
    std::vector<PrintedNumber>& kept = numbers_[number.metric];
    if (kept.size() < (number.is_of_ops() ? most_lines + 1 : 1))
      kept.push_back(std::move(found));
    else if (found.fits || !kept.back().fits)
      kept.back() = std::move(found);
  }

  /// Returns the ops that it has times of.
  std::vector<std::string> add_numbers(PassResult& result) {
    std::vector<std::string> ops;
    for (const SuiteNumber& number : of_.suite->numbers) {
      const std::vector<PrintedNumber>& found = numbers_[number.metric];
      const std::string none =
          fmt::format("the program printed no line with \"{}\"{}", number.pattern.text(),
                      is_cut_ ? fmt::format(" in its first {} characters", longest_line) : std::string());
      if (number.is_of_ops()) {
        for (const std::string& op : add_times(result, number, found, none)) {
          if (std::ranges::find(ops, op) == ops.end()) ops.push_back(op);
        }
      } else {
        const PrintedNumber* last = last_that_fits(found);
        if (last == nullptr && !found.empty()) last = &found.back();
        result.measurements.push_back(printed(number, "", last == nullptr ? Lines() : Lines{last}, none));
      }
    }
    return ops;
  }

  /// One a line of an op, in order: lines that the whole pattern fits. Others take part where these are too
  /// few, so that a time that cannot be read gives its op no other op's.
  static Lines lines_of(const std::vector<PrintedNumber>& found, std::size_t wanted) {
    Lines fitting, all;
    for (const PrintedNumber& one : found) {
      all.push_back(&one);
      if (one.fits) fitting.push_back(&one);
    }
    const bool others_are_ops =
        wanted < 2 ? fitting.empty() : fitting.size() < wanted && all.size() == wanted;
    return others_are_ops ? all : fitting;
  }

  std::vector<std::string> add_times(PassResult& result, const SuiteNumber& number,
                                     const std::vector<PrintedNumber>& found, const std::string& none) const {
    std::vector<std::string> ops = of_.suite->ops;
    const bool are_too_many = found.size() > most_lines;
    const Lines lines = are_too_many ? Lines() : lines_of(found, ops.size());
    std::vector<Lines> of_ops = ops.empty() ? alike(lines) : in_order(lines, ops.size());
    const bool are_too_many_ops = ops.empty() && of_ops.size() > most_ops;
    if (are_too_many_ops) of_ops.clear();
    if (ops.empty()) ops = unnamed(of_ops.size());
    const std::string why =
        are_too_many ? fmt::format("the program printed more than {} lines with \"{}\"", most_lines,
                                   number.pattern.text())
        : are_too_many_ops
            ? fmt::format("the text before \"{}\" differs in more than {} ways: name the suite's ops",
                          number.pattern.text(), most_ops)
        : !lines.empty() ? fmt::format("the program printed {} lines with \"{}\", and the suite names {} ops",
                                       lines.size(), number.pattern.text(), ops.size())
        : found.empty()  ? none
                         : flaw_of(number, found.front());
    of_ops.resize(ops.size());
    for (std::size_t i = 0; i < ops.size(); ++i)
      result.measurements.push_back(printed(number, ops[i], of_ops[i], why));
    return ops;
  }

  /// Lines that say the same before their number are samples of one time.
  static std::vector<Lines> alike(const Lines& lines) {
    std::vector<Lines> all;
    std::map<std::size_t, std::size_t> places;
    for (const PrintedNumber* line : lines) {
      const auto [place, is_new] = places.emplace(line->before, all.size());
      if (is_new) all.emplace_back();
      all[place->second].push_back(line);
    }
    return all;
  }

  /// A line for each op; none where there are more lines than ops. A single op has all of them.
  static std::vector<Lines> in_order(const Lines& lines, std::size_t ops) {
    if (ops == 1) return {lines};
    std::vector<Lines> all;
    if (lines.size() > ops) return all;
    for (const PrintedNumber* line : lines) all.push_back({line});
    return all;
  }

  static std::vector<std::string> unnamed(std::size_t count) {
    if (count <= 1) return {trace::whole_program};
    std::vector<std::string> ops;
    for (std::size_t i = 1; i <= count; ++i) ops.push_back(fmt::format("op{}", i));
    return ops;
  }

  void verify(PassResult& result) {
    if (!of_.program->verification) return;
    file_.close();
    const OutputVerdict verdict = verify_output(of_, path_, numbers_);
    result.outcome->verified_by = verdict.by;
    if (verdict.finding.empty()) return;
    result.status = verdict.is_interrupted ? Status::interrupted : Status::wrong;
    result.reason = verdict.finding;
  }

  SuiteCase of_;
  Pass pass_;
  TemporaryFolder folder_;
  std::filesystem::path path_;  ///< of all that it printed, where that is needed
  std::ofstream file_;
  std::string line_;
  std::map<std::string, PrintedNumber> in_line_;  ///< of the line that is being printed, by metric
  PrintedNumbers numbers_;
  bool is_cut_ = false;  ///< a line was longer than is read
};

}  // namespace

std::unique_ptr<OutputReader> make_printed_output(SuiteCase of, Pass pass) {
  return std::make_unique<PrintedOutput>(std::move(of), pass);
}

}  // namespace mprof
