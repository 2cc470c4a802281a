// SPDX-License-Identifier: MIT
#include "report/views/summary.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/statistics/median.hpp"
#include "report/analysis/analysis.hpp"
#include "report/analysis/machines/environment.hpp"
#include "report/text/format.hpp"
#include "report/views/cells.hpp"
#include "report/views/table.hpp"
#include "report/wording/findings.hpp"
#include "report/wording/judgement.hpp"
#include "report/wording/precision.hpp"
#include "report/wording/why.hpp"

namespace mprof {
namespace {

/// A time with its interval, marked with what disturbed it.
Cell time_cell(const Value& value) {
  Cell cell = Cell::bare(value);
  if (!value) return cell;
  if (const auto width = relative_half_width(*value)) cell.detail = format::plus_minus(*width);
  if (!value->disturbed.empty()) cell.note = "disturbed: " + format::one_line(causes_text(value->disturbed));
  return cell;
}

/// Of its only op, or of the whole case where it has several, or no op time.
const SpeedUp& speed_up_of(const CaseResult& result) {
  const bool has_one = result.ops.size() == 1 && result.ops.front().speed_up;
  return has_one ? result.ops.front().speed_up : result.total_speed_up;
}

bool has_baseline(const CaseResult& result) {
  return !result.is_baseline && speed_up_of(result).factor.has_value();
}

/// "2.7× (2.5–3.0×)".
Cell over_baseline(const CaseResult& result) {
  if (!has_baseline(result)) return Cell::dash();
  const SpeedUp& speed_up = speed_up_of(result);
  std::string detail;
  if (speed_up.interval)
    detail = fmt::format("({})", format::times(speed_up.interval->low, speed_up.interval->high));
  return Cell::figure(format::times(*speed_up.factor), detail);
}

/// "faster": right, and faster than its baseline.
std::string_view status_text(const CaseResult& result) {
  return result.ok() && has_baseline(result) ? to_string(speed_up_of(result).verdict)
                                             : to_string(result.status);
}

/// A time that is not there is marked with the reason. One that was taken before the output was wrong is
/// there.
Cell status_cell(const CaseResult& result) {
  Cell cell = Cell::words(status_text(result));
  if (!result.ok() && result.total_time && !result.reason.empty())
    cell.note = fmt::format("{}: {}", to_string(result.status), format::one_line(result.reason));
  if (cell.note.empty()) cell.note = precision_note(result);
  return cell;
}

/// The summary of one family: the case, its op times, its total time and its family's first
/// quality: a terminal is narrow. What was skipped has none
/// of them and no row.
Table cases_table(const FamilyResult& family) {
  Table table("cases", family.id);
  table.text("Case");
  add_time_columns(table, family, "op_time");
  table.numbers("Total Time", Unit::second);
  if (!family.info.qualities.empty())
    table.numbers(format::one_line(family.info.qualities.front().label)).spare();
  const bool has_speed_ups = std::ranges::any_of(family.variants, [](const VariantResult& variant) {
    return std::ranges::any_of(variant.cases, has_baseline);
  });
  if (has_speed_ups) table.numbers(family.ops.size() > 1 ? "Speed-up (total)" : "Speed-up");
  table.text("");
  for (const VariantResult& variant : family.variants) {
    for (const CaseResult& result : variant.cases) {
      if (result.status == Status::skipped || result.status == Status::pending) continue;
      std::vector<Cell> cells{Cell::words(result.id)};
      for (const OpResult& op : result.ops) cells.push_back(time_cell(op.op_time));
      cells.push_back(time_cell(result.total_time));
      if (!result.qualities.empty())
        cells.push_back(Cell::quality(result.qualities[0].value, result.qualities[0].info->unit));
      if (has_speed_ups) cells.push_back(over_baseline(result));
      cells.push_back(status_cell(result));
      table.row(std::move(cells));
    }
  }
  return table;
}

double deviation_of(const std::vector<double>& samples, double mean) {
  double squares = 0;
  for (const double sample : samples) squares += (sample - mean) * (sample - mean);
  return std::sqrt(squares / static_cast<double>(samples.size() - 1));
}

/// A program that is run as it is has one time, and each execution is a sample of it.
bool is_one_program(const FamilyResult& family) {
  return family.variants.size() == 1 && family.variants.front().info.subject == Subject::program;
}

Table program_table(const FamilyResult& family) {
  Table table("cases", family.id);
  table.text("Program").numbers("Median", Unit::second).numbers("Mean", Unit::second);
  table.numbers("Deviation", Unit::second);
  table.numbers("Min", Unit::second).numbers("Max", Unit::second).numbers("Runs").text("");
  for (const CaseResult& result : family.variants.front().cases) {
    if (result.status == Status::skipped || result.status == Status::pending) continue;
    std::vector<Cell> cells{Cell::words(result.id)};
    const Measurement* const row = find_measurement(*result.source, "total_time", "");
    if (row == nullptr || row->samples.empty()) {
      cells.push_back(time_cell(result.total_time));
      cells.resize(table.columns() - 1, Cell::dash());
    } else {
      const std::vector<double>& samples = row->samples;
      Cell middle = time_cell(result.total_time), mean, deviation, least, most;
      middle.number = median(samples);
      middle.detail.clear();
      mean.number =
          std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
      deviation = Cell::dash();
      if (samples.size() > 1) deviation.number = deviation_of(samples, *mean.number);
      least.number = std::ranges::min(samples);
      most.number = std::ranges::max(samples);
      cells.insert(cells.end(),
                   {middle, mean, deviation, least, most, Cell::figure(std::to_string(samples.size()))});
    }
    cells.push_back(Cell::words(to_string(result.status)));
    table.row(std::move(cells));
  }
  return table;
}

/// The reasons behind the marks of a table, a line each.
std::string notes(const nlohmann::json& table) {
  std::string out;
  for (const auto& note : table["notes"]) {
    out += fmt::format("[{}] {}\n", note["mark"].get<std::string>(), note["text"].get<std::string>());
  }
  return out;
}

/// Each reason for which cases were skipped, once.
std::string skipped(const FamilyResult& family) {
  std::map<std::string, std::vector<std::string>> cases_by_reason;
  for (const VariantResult& variant : family.variants) {
    for (const CaseResult& result : variant.cases) {
      if (result.status == Status::skipped) cases_by_reason[result.reason].push_back(result.id);
    }
  }
  std::string out;
  for (const auto& [reason, cases] : cases_by_reason) {
    const std::size_t others = cases.size() - 1;
    out += fmt::format("Skipped: {}{}: {}\n", cases.front(),
                       others == 0 ? "" : " and " + format::plural(others, "other case"), reason);
  }
  return out;
}

/// How many cases an interruption left, if it did.
std::string not_run(const FamilyResult& family) {
  std::size_t cases = 0;
  for (const VariantResult& variant : family.variants)
    cases +=
        static_cast<std::size_t>(std::ranges::count(variant.cases, Status::pending, &CaseResult::status));
  if (cases == 0) return "";
  return fmt::format("{} {} not run.\n", format::plural(cases, "case"), cases == 1 ? "was" : "were");
}

/// The variants whose op times say little, in a sentence each.
std::string remarks(const FamilyResult& family) {
  std::string out;
  for (const VariantResult& variant : family.variants) {
    for (const CaseResult& result : variant.cases) {
      const auto op =
          std::ranges::find_if(result.ops, [](const OpResult& o) { return o.flaw != OpTimeFlaw::none; });
      if (op == result.ops.end()) continue;
      out += fmt::format("{} {}: compare its {}, not its op time.\n", variant.info.id, say(why_of(op->flaw)),
                         family.words.time("group_time"));
      break;
    }
  }
  return out;
}

/// The case's row is marked with the reason.
bool stands_in_table(const Finding& finding) {
  return std::holds_alternative<finding::WrongOutput>(finding.what) ||
         std::holds_alternative<finding::SuspectTimes>(finding.what) ||
         std::holds_alternative<finding::MissingCase>(finding.what);
}

constexpr double little = 0.01;  // of a time, that nobody asks for

std::string seconds_text(double seconds) {
  return format::about(seconds, Unit::second);
}

PassTime sum(const std::vector<PassTime>& passes) {
  PassTime all;
  for (const PassTime& one : passes) {
    all.workers += one.workers;
    all.seconds += one.seconds;
    all.starting += one.starting;
    all.loading += one.loading;
    all.measuring += one.measuring;
    all.waiting += one.waiting;
  }
  return all;
}

std::string spent_text(const std::vector<PassTime>& spent) {
  std::vector<std::string> passes;
  for (const PassTime& one : spent)
    passes.push_back(fmt::format("{} {}", to_string(one.pass), seconds_text(one.seconds)));
  const PassTime all = sum(spent);
  std::string text =
      fmt::format("{} ({}): {} to start {} worker{}, {} to load and free, {} to measure and verify",
                  seconds_text(all.seconds), fmt::join(passes, ", "), seconds_text(all.starting), all.workers,
                  all.workers == 1 ? "" : "s", seconds_text(all.loading), seconds_text(all.measuring));
  const double rest = all.seconds - all.starting - all.loading - all.measuring;
  if (rest >= little * all.seconds)
    text += fmt::format(", {} to end workers or in cases without a result", seconds_text(rest));
  return text;
}

}  // namespace

double measuring_time(const Run& run) {
  return sum(run.spent).measuring;
}

std::string render_spent(double seconds, double measuring) {
  if (measuring <= 0) return "";
  return fmt::format("Took {}, {} of it measuring and verifying.\n", seconds_text(seconds),
                     seconds_text(measuring));
}

std::string render_spent_on_devices(const Run& run) {
  double longest = 0;
  std::size_t devices = 0;
  std::string lines;
  for (const RunPart& part : run.parts) {
    if (part.spent.empty()) continue;
    const PassTime all = sum(part.spent);
    longest = std::max(longest, all.seconds + all.waiting);
    ++devices;
    lines += fmt::format("  {}: {}{}.\n", part_name(part), spent_text(part.spent),
                         all.waiting < little * all.seconds
                             ? ""
                             : fmt::format("; {} of waiting for the others", seconds_text(all.waiting)));
  }
  if (devices == 0) return "";
  return fmt::format("Took {} on {} device{}:\n{}", seconds_text(longest), devices, devices == 1 ? "" : "s",
                     lines);
}

std::string render_summary(const Run& run, std::size_t width) {
  const RunAnalysis analysis = analyse(run);
  std::string out;
  for (const FamilyResult& family : analysis.families) {
    const Table table = is_one_program(family) ? program_table(family) : cases_table(family);
    if (!table.empty()) {
      const nlohmann::json view = table.view();
      out += "\n" + text_table(view, width) + "\n" + notes(view) + remarks(family);
    }
    out += not_run(family) + skipped(family);
  }
  for (const Finding& finding : analysis.findings) {
    if (stands_in_table(finding)) continue;
    const bool is_of_first = std::holds_alternative<finding::SlowFirst>(finding.what);
    if (finding.severity <= Severity::broken || is_of_first) out += text_of(finding) + "\n";
  }
  return out;
}

}  // namespace mprof
