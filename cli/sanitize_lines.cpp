// SPDX-License-Identifier: MIT
#include "cli/sanitize_lines.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/standard_streams.hpp"
#include "cli/terminal.hpp"

namespace mprof::cli {
namespace {

std::string outcome(const SanitizerResult& result) {
  switch (result.status) {
    case SanitizerStatus::clean:
      if (result.warnings == 0) return "clean";
      return fmt::format("clean, {} warning{}, the first: {}", result.warnings,
                         result.warnings == 1 ? "" : "s", result.first_report);
    case SanitizerStatus::errors:
      return fmt::format("{} error{}, the first: {}", result.errors, result.errors == 1 ? "" : "s",
                         result.first_report);
    case SanitizerStatus::failed:
    case SanitizerStatus::timeout:
    case SanitizerStatus::skipped:
      break;
  }
  return fmt::format("{}: {}", to_string(result.status), result.reason.substr(0, result.reason.find('\n')));
}

}  // namespace

SanitizeLines::SanitizeLines(std::size_t steps, bool quiet)
    : steps_(steps), quiet_(quiet), live_(!quiet && stderr_is_terminal()) {}

void SanitizeLines::step_begins(const SanitizeStep& step) {
  ++done_;
  if (!live_ || !step.skipped.empty()) return;
  const std::string line =
      fmt::format("[{}/{}] {} {} ...", done_, steps_, step.variant, to_string(step.tool));
  clear_line();
  fmt::print(stderr, "{}", line.substr(0, terminal_width() - 1));
}

void SanitizeLines::step_ends(const SanitizerResult& result) {
  if (result.status == SanitizerStatus::skipped && !skip_reasons_.insert(result.reason).second) return;
  if (quiet_ && result.status == SanitizerStatus::clean) return;
  if (live_) clear_line();
  const std::string seconds = result.seconds ? fmt::format(", {:.0f} s", std::ceil(*result.seconds)) : "";
  fmt::print(stderr, "[{}/{}] {} {}{}: {}\n", done_, steps_, result.variant, to_string(result.tool), seconds,
             outcome(result));
}

std::size_t number_of(const std::vector<SanitizerResult>& results, SanitizerStatus status) {
  return static_cast<std::size_t>(
      std::count_if(results.begin(), results.end(),
                    [&](const SanitizerResult& result) { return result.status == status; }));
}

std::string summary(const std::vector<SanitizerResult>& results) {
  std::vector<std::string> parts;
  const auto add = [&](SanitizerStatus status, std::string_view words) {
    if (const std::size_t n = number_of(results, status)) parts.push_back(fmt::format("{} {}", n, words));
  };
  add(SanitizerStatus::clean, "clean");
  add(SanitizerStatus::errors, "with errors");
  add(SanitizerStatus::failed, "failed");
  add(SanitizerStatus::timeout, "over the time limit");
  add(SanitizerStatus::skipped, "skipped");
  return fmt::format("{} result{}: {}.", results.size(), results.size() == 1 ? "" : "s",
                     fmt::join(parts, ", "));
}

}  // namespace mprof::cli
