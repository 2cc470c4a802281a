// SPDX-License-Identifier: MIT
#include "runner/sanitize/program.hpp"

#include <utility>

#include <fmt/format.h>

#include "model/version.hpp"
#include "runner/result_directory.hpp"
#include "system/files.hpp"
#include "system/temporary_folder.hpp"
#include "system/watched_program.hpp"

namespace mprof {
namespace {

/// Of compute-sanitizer where it found errors: no program's own, as far as they can be told apart.
constexpr int error_code_of_tool = 86;

std::vector<std::string> command_of(const ProgramToSanitize& program, SanitizerTool tool,
                                    const Sanitizer& sanitizer, const std::string& log) {
  std::vector<std::string> words{sanitizer.program,
                                 "--tool",
                                 std::string(to_string(tool)),
                                 "--target-processes",
                                 "all",
                                 "--error-exitcode",
                                 std::to_string(error_code_of_tool),
                                 "--log-file",
                                 log};
  words.insert(words.end(), program.command.begin(), program.command.end());
  return words;
}

void judge(SanitizerResult& result, const SanitizerLog& log, const ProgramEnd& end, double timeout) {
  const std::string ending = how_it_ended(end, timeout);
  if (end.how == ProgramEnd::How::time_limit) {
    result.status = SanitizerStatus::timeout;
    result.reason = fmt::format("{} (--timeout)", ending);
  } else if (!log.has_summary) {
    result.status = SanitizerStatus::failed;
    result.reason = fmt::format("compute-sanitizer left no summary: {}{}", ending,
                                log.first_report.empty() ? "" : ". Its log says: " + log.first_report);
  } else {
    result.errors = log.errors;
    result.warnings = log.warnings;
    if (log.errors + log.warnings > 0) result.first_report = log.first_report;
    result.status = log.errors > 0 ? SanitizerStatus::errors : SanitizerStatus::clean;
    if (log.errors > 0 || end.succeeded()) return;
    // No error in what was not executed to its end says nothing.
    result.status = SanitizerStatus::failed;
    result.reason =
        fmt::format("compute-sanitizer counts no error, and yet the program did not end well: {}", ending);
  }
}

}  // namespace

std::optional<SanitizedProgram> sanitize_program(const ProgramToSanitize& program, SanitizerTool tool,
                                                 const Sanitizer& sanitizer, const Clock& clock) {
  SanitizedProgram sanitized;
  SanitizerResult& result = sanitized.result;
  result.variant = program.name;
  result.tool = tool;
  result.started = utc_now();
  result.mprof = {version, revision};
  if (!sanitizer.absent.empty()) {
    result.reason = sanitizer.absent;
    return sanitized;
  }
  const TemporaryFolder folder("mprof-sanitize");
  const std::filesystem::path log = folder.path() / "log";
  result.sanitizer = sanitizer.version;
  result.command = command_of(program, tool, sanitizer, log.string());
  const ProgramEnd end = run_to_end(
      {.command = result.command, .time_limit = program.timeout, .interrupt_fd = program.interrupt_fd},
      clock);
  if (end.how == ProgramEnd::How::interrupted) return std::nullopt;
  judge(result, parse_sanitizer_log(std::filesystem::exists(log) ? read_file(log) : ""), end,
        program.timeout);
  result.seconds = end.seconds;
  sanitized.output = end.output;
  return sanitized;
}

}  // namespace mprof
