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

/// Less than reading a clock twice takes: of a time in another unit than ns such a number is none.
constexpr double shortest_time = 1e-7;  // s

/// Why what was printed is no value of this number; empty: it is one.
std::string flaw_of(const SuiteNumber& number, const PrintedNumber& found) {
  const std::string& unit = number.pattern.unit_word();
  if (!found.fits)
    return fmt::format("the program printed \"{}\" where \"{}\" has its number", found.text,
                       number.pattern.text());
  const std::string text = unit.empty() ? found.text : fmt::format("{} {}", found.text, unit);
  if (!found.value) return fmt::format("the program printed {}, which is no number", text);
  if (!number.is_of_ops()) return {};
  if (*found.value <= 0) return fmt::format("the program printed {}: a time is more than 0", text);
  if (*found.value < shortest_time && unit != "ns")
    return fmt::format("the program printed {}: no clock can time so little", text);
  return {};
}

/// One that was printed in that way, or the reason why there is none.
Measurement printed(const SuiteNumber& number, const std::string& op, const PrintedNumber* found,
                    std::string absent) {
  Measurement row{.metric = number.metric, .op = op, .source = Source::printed};
  if (found != nullptr) absent = flaw_of(number, *found);
  if (found != nullptr && absent.empty())
    row.samples = {*found->value};
  else
    row.absent = std::move(absent);
  return row;
}

/// Without the sequences that colour a terminal.
std::string without_colours(std::string_view line) {
  std::string plain;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line.substr(i, 2) != "\x1b[") {
      plain += line[i];
      continue;
    }
    i += 2;
    while (i < line.size() && (line[i] < '@' || line[i] > '~')) ++i;
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
      read_line();
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
  void read_line() {
    const std::string line = without_colours(line_);
    is_cut_ = is_cut_ || line_.size() == longest_line;
    line_.clear();
    for (const SuiteNumber& number : of_.suite->numbers) {
      if (auto found = number.pattern.find(line)) numbers_[number.metric].push_back(*std::move(found));
    }
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
        result.measurements.push_back(printed(number, "", last, none));
      }
    }
    return ops;
  }

  /// One a line of an op, in order: lines that the whole pattern fits. Others take part where these are too
  /// few, so that a time that cannot be read gives its op no other op's.
  static std::vector<const PrintedNumber*> lines_of(const std::vector<PrintedNumber>& found,
                                                    std::size_t wanted) {
    std::vector<const PrintedNumber*> fitting, all;
    for (const PrintedNumber& one : found) {
      all.push_back(&one);
      if (one.fits) fitting.push_back(&one);
    }
    const bool others_are_ops =
        wanted == 0 ? fitting.empty() : fitting.size() < wanted && all.size() == wanted;
    return others_are_ops ? all : fitting;
  }

  std::vector<std::string> add_times(PassResult& result, const SuiteNumber& number,
                                     const std::vector<PrintedNumber>& found, const std::string& none) const {
    std::vector<std::string> ops = of_.suite->ops;
    const std::vector<const PrintedNumber*> lines = lines_of(found, ops.size());
    if (ops.empty()) ops = unnamed(lines.size());
    const bool too_many = lines.size() > ops.size();
    const std::string why =
        !lines.empty()  ? fmt::format("the program printed {} lines with \"{}\", and the suite names {} ops",
                                      lines.size(), number.pattern.text(), ops.size())
        : found.empty() ? none
                        : flaw_of(number, found.front());
    for (std::size_t i = 0; i < ops.size(); ++i)
      result.measurements.push_back(
          printed(number, ops[i], i < lines.size() && !too_many ? lines[i] : nullptr, why));
    return ops;
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
  PrintedNumbers numbers_;
  bool is_cut_ = false;  ///< a line was longer than is read
};

}  // namespace

std::unique_ptr<OutputReader> make_printed_output(SuiteCase of, Pass pass) {
  return std::make_unique<PrintedOutput>(std::move(of), pass);
}

}  // namespace mprof
