// SPDX-License-Identifier: MIT
#include "serve/judge/judgement.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "model/enum_names.hpp"
#include "report/text/format.hpp"
#include "system/error.hpp"

namespace mprof {
namespace {

constexpr EnumNames<JudgeStatus, 6> judge_statuses{{{JudgeStatus::right, "right"},
                                                    {JudgeStatus::wrong, "wrong"},
                                                    {JudgeStatus::suspect, "suspect"},
                                                    {JudgeStatus::crashed, "crashed"},
                                                    {JudgeStatus::timeout, "timeout"},
                                                    {JudgeStatus::compile_failed, "compile_failed"}}};
constexpr EnumNames<JudgeStage, 8> judge_stages{{{JudgeStage::compile, "compile"},
                                                 {JudgeStage::small, "small"},
                                                 {JudgeStage::memcheck, "memcheck"},
                                                 {JudgeStage::full, "full"},
                                                 {JudgeStage::quick, "quick"},
                                                 {JudgeStage::trace, "trace"},
                                                 {JudgeStage::rounds, "rounds"},
                                                 {JudgeStage::counters, "counters"}}};
constexpr EnumNames<StageOutcome, 3> stage_outcomes{
    {{StageOutcome::done, "done"}, {StageOutcome::failed, "failed"}, {StageOutcome::skipped, "skipped"}}};

/// So much of a saving that is claimed must be possible by this process's clock: what it sees are other
/// executions than those that were timed.
constexpr double share_to_confirm = 0.75;

/// Whether no character of UTF-8 begins at `at`.
bool is_inside_character(std::string_view text, std::size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
}

}  // namespace

std::string_view to_string(JudgeStatus status) {
  return name_of(judge_statuses, status);
}
std::string_view to_string(JudgeStage stage) {
  return name_of(judge_stages, stage);
}
std::string_view to_string(StageOutcome outcome) {
  return name_of(stage_outcomes, outcome);
}

bool OwnClock::contradicts() const {
  return claimed && *claimed > 0 && high < share_to_confirm * *claimed;
}

double claimed_saving(double whole, double by_ops) {
  return std::max(whole, by_ops / 2);
}

bool counts_by_whole(double by_ops, double most_by_whole, const std::optional<OwnClock>& own_clock) {
  if (!(by_ops > 0)) return false;
  const double most = std::min(most_by_whole, own_clock ? own_clock->high : most_by_whole);
  return most < share_to_confirm * by_ops;
}

double Judgement::score() const {
  double sum = 0;
  for (const ScoreItem& item : items) sum += item.points;
  return sum;
}

double Judgement::most_points() const {
  double sum = 0;
  for (const ScoreItem& item : items) sum += item.most;
  return sum;
}

int exit_code_of(const Judgement& judgement) {
  if (judgement.status != JudgeStatus::right) return static_cast<int>(ExitCode::wrong_output);
  return static_cast<int>(judgement.verdict == Verdict::slower ? ExitCode::regression : ExitCode::success);
}

std::string tamed(std::string_view text, std::size_t most) {
  std::string line;
  for (const char c : text) {
    const bool is_control = static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    if (is_control && (line.empty() || line.back() == ' ')) continue;
    line += is_control ? ' ' : c;
    if (line.size() > most) break;
  }
  line = format::one_line(line);
  if (line.size() > most) {
    // What is left has whole characters alone: it ends where the first one begins that is too long.
    while (is_inside_character(line, most)) --most;
    line.resize(most);
    line += "...";
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

std::string tamed_end(std::string_view text, std::size_t most) {
  std::string lines = format::text_block(text.substr(text.size() - std::min(most, text.size())));
  while (lines.ends_with('\n')) lines.pop_back();
  if (lines.size() <= most) return lines;
  std::size_t at = lines.size() - most;
  while (is_inside_character(lines, at)) ++at;
  return lines.substr(at);
}

}  // namespace mprof
