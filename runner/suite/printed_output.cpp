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

Measurement printed(const SuiteNumber& number, const std::string& op, std::optional<double> value,
                    std::string absent) {
  Measurement row{.metric = number.metric, .op = op, .source = Source::printed};
  if (value && number.is_of_ops() && *value < 0)
    row.absent = fmt::format("the program printed a time below 0: {:g} s", *value);
  else if (value)
    row.samples = {*value};
  else
    row.absent = std::move(absent);
  return row;
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
    for (const SuiteNumber& number : of_.suite->numbers) {
      if (const auto value = number.pattern.read(line_)) values_[number.metric].push_back(*value);
    }
    line_.clear();
  }

  /// Returns the ops that it has times of.
  std::vector<std::string> add_numbers(PassResult& result) {
    std::vector<std::string> ops;
    for (const SuiteNumber& number : of_.suite->numbers) {
      const std::vector<double>& values = values_[number.metric];
      const std::string none = fmt::format("the program printed no line with \"{}\"", number.pattern.text());
      if (number.is_of_ops()) {
        for (const std::string& op : add_times(result, number, values, none)) {
          if (std::ranges::find(ops, op) == ops.end()) ops.push_back(op);
        }
      } else {
        const auto last = values.empty() ? std::nullopt : std::optional(values.back());
        result.measurements.push_back(printed(number, "", last, none));
      }
    }
    return ops;
  }

  std::vector<std::string> add_times(PassResult& result, const SuiteNumber& number,
                                     const std::vector<double>& values, const std::string& none) const {
    std::vector<std::string> ops = of_.suite->ops;
    if (ops.empty()) ops = unnamed(values.size());
    const bool too_many = values.size() > ops.size();
    for (std::size_t i = 0; i < ops.size(); ++i) {
      const auto value = i < values.size() && !too_many ? std::optional(values[i]) : std::nullopt;
      const std::string why =
          values.empty() ? none
                         : fmt::format("the program printed {} lines with \"{}\", and the suite names {} ops",
                                       values.size(), number.pattern.text(), ops.size());
      result.measurements.push_back(printed(number, ops[i], value, why));
    }
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
    const OutputVerdict verdict = verify_output(of_, path_, values_);
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
  PrintedValues values_;
};

}  // namespace

std::unique_ptr<OutputReader> make_printed_output(SuiteCase of, Pass pass) {
  return std::make_unique<PrintedOutput>(std::move(of), pass);
}

}  // namespace mprof
