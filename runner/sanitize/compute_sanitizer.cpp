// SPDX-License-Identifier: MIT
#include "runner/sanitize/compute_sanitizer.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <limits>
#include <optional>
#include <sstream>

#include <fmt/format.h>

#include "system/error.hpp"
#include "system/process.hpp"
#include "system/programs.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;

constexpr const char* sanitizer_name = "compute-sanitizer";
constexpr double version_timeout = 60;  // s
constexpr std::size_t longest_report = 480;

/// Begins every line that compute-sanitizer writes.
constexpr std::string_view line_mark = "=========";

/// How racecheck grades a report.
constexpr std::string_view error_mark = "Error: ";
constexpr std::string_view warning_mark = "Warning: ";

/// Lines that begin a paragraph and report nothing.
constexpr std::array<std::string_view, 6> no_reports{"COMPUTE-SANITIZER",
                                                     "ERROR SUMMARY",
                                                     "RACECHECK SUMMARY",
                                                     "LEAK SUMMARY",
                                                     "Target application returned an error",
                                                     "Warning: Maximum number of hazards"};

/// The parts of a report that name host code, or device code again.
constexpr std::array<std::string_view, 3> backtraces{"Saved host backtrace", "Host Frame", "Device Frame"};

template <std::size_t n>
bool starts_with_any(std::string_view text, const std::array<std::string_view, n>& heads) {
  return std::any_of(heads.begin(), heads.end(),
                     [&](std::string_view head) { return text.starts_with(head); });
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// The number in front of `noun`, such as "3" in front of " error"; nullopt when there is none.
std::optional<std::uint32_t> number_before(std::string_view text, std::string_view noun) {
  const std::size_t end = text.find(noun);
  if (end == std::string_view::npos) return std::nullopt;
  std::size_t begin = end;
  while (begin > 0 && text[begin - 1] >= '0' && text[begin - 1] <= '9') --begin;
  std::uint64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data() + begin, text.data() + end, value);
  constexpr std::uint64_t largest = std::numeric_limits<std::uint32_t>::max();
  if (begin < end && error == std::errc::result_out_of_range) return largest;
  if (error != std::errc{}) return std::nullopt;
  return static_cast<std::uint32_t>(std::min(value, largest));
}

bool continues_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

/// On one line, the middle left out of what is too long: a kernel's name can have thousands of characters,
/// and both the kind of error and the thread matter.
std::string shortened(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = ' ';
  }
  if (text.size() <= longest_report) return text;
  std::size_t head = longest_report * 2 / 3;
  std::size_t tail = text.size() - longest_report / 3;
  while (head > 0 && continues_character(text[head])) --head;
  while (tail < text.size() && continues_character(text[tail])) ++tail;
  return text.substr(0, head) + " ... " + text.substr(tail);
}

class LogReader {
 public:
  /// One line without its mark.
  void line(std::string_view body) {
    const std::string_view text = trimmed(body);
    const bool indented = body.starts_with("  ");
    if (text.empty() || starts_with_any(text, no_reports)) {
      in_report_ = false;
      summary(text);
    } else if (!indented) {
      begin_report(text);
    } else if (in_report_ && starts_with_any(text, backtraces)) {
      in_report_ = false;
    } else if (in_report_) {
      const bool goes_on = text.starts_with("at ") || text.starts_with("by ") || text.starts_with("and ");
      log_.first_report += (goes_on ? " " : ", ") + std::string(text);
    }
  }

  [[nodiscard]] SanitizerLog take() {
    // Errors and warnings are counted: which of them it is need not be said again.
    for (const std::string_view severity : {error_mark, warning_mark}) {
      if (log_.first_report.starts_with(severity)) log_.first_report.erase(0, severity.size());
    }
    log_.first_report = shortened(std::move(log_.first_report));
    return std::move(log_);
  }

 private:
  void begin_report(std::string_view text) {
    // A warning gives way to the first error behind it.
    const bool better = log_.first_report.empty() ||
                        (log_.first_report.starts_with(warning_mark) && text.starts_with(error_mark));
    in_report_ = better;
    if (better) log_.first_report = text;
  }

  /// "ERROR SUMMARY: 3 errors", "RACECHECK SUMMARY: 2 hazards displayed (1 error, 1 warning)".
  void summary(std::string_view text) {
    // "ERROR SUMMARY: 900 errors were not printed" repeats a part of the number before.
    const bool tells = (text.starts_with("ERROR SUMMARY") || text.starts_with("RACECHECK SUMMARY")) &&
                       text.find("not printed") == std::string_view::npos;
    if (!tells) return;
    const std::optional<std::uint32_t> errors = number_before(text, " error");
    if (!errors) return;
    log_.has_summary = true;
    log_.errors = std::max(log_.errors, *errors);
    log_.warnings = std::max(log_.warnings, number_before(text, " warning").value_or(0));
  }

  SanitizerLog log_;
  bool in_report_ = false;
};

/// "2025.3.1.0" of "Version 2025.3.1.0 (build 36400806) (public-release)"; empty when no line has it.
std::string version_in(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    const std::size_t at = line.find("Version ");
    if (at == std::string::npos) continue;
    std::istringstream words(line.substr(at + std::string_view("Version ").size()));
    std::string version;
    words >> version;
    if (!version.empty()) return shortened(version);
  }
  return {};
}

/// Asks the program for its version; what else goes wrong then would go wrong with every variant.
void ask_version(Sanitizer& sanitizer, const Clock& clock) {
  std::vector<std::string> lines;
  try {
    Process process({sanitizer.program, "--version"}, "");
    const double deadline = clock.now() + version_timeout;
    using Kind = Process::Event::Kind;
    auto event = process.next(clock, deadline, -1);
    for (; event.kind == Kind::line; event = process.next(clock, deadline, -1)) lines.push_back(event.line);
    if (event.kind != Kind::ended) process.kill();
    sanitizer.version = version_in(lines);
    if (!sanitizer.version.empty()) return;
    const std::string words = process.last_words();
    sanitizer.absent = fmt::format("{} --version gave no version: {}{}", sanitizer.program,
                                   process.how_it_ended(), words.empty() ? "" : ": " + words);
  } catch (const Error& error) {
    sanitizer.absent = error.what();
  }
  sanitizer.absent = shortened(sanitizer.absent);
}

}  // namespace

std::vector<fs::path> sanitizer_folders() {
  std::vector<fs::path> folders = search_path(environment_variable("PATH"));
  std::vector<fs::path> toolkits;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const std::string root = environment_variable(variable); !root.empty()) toolkits.emplace_back(root);
  }
#ifdef MPROF_CUDA_TOOLKIT
  toolkits.emplace_back(MPROF_CUDA_TOOLKIT);
#endif
  toolkits.emplace_back("/usr/local/cuda");
  for (const fs::path& root : toolkits) {
    folders.push_back(root / "bin");
    folders.push_back(root / "compute-sanitizer");
  }
  return folders;
}

Sanitizer find_sanitizer(const std::vector<fs::path>& folders, const Clock& clock) {
  Sanitizer sanitizer;
  if (const auto program = find_program(sanitizer_name, folders)) {
    std::error_code error;
    sanitizer.program = fs::absolute(*program, error).string();
    ask_version(sanitizer, clock);
    return sanitizer;
  }
  sanitizer.absent =
      "compute-sanitizer is neither on PATH nor in the bin folder of a CUDA toolkit; install the CUDA "
      "toolkit's, or set CUDA_HOME";
  return sanitizer;
}

SanitizerLog parse_sanitizer_log(std::string_view text) {
  LogReader reader;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.starts_with(line_mark)) reader.line(line.substr(line_mark.size()));
  }
  return reader.take();
}

}  // namespace mprof
