// SPDX-License-Identifier: MIT
#include "serve/judge/judgement_json.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "model/compact_json.hpp"
#include "report/text/format.hpp"
#include "report/wording/judgement.hpp"
#include "report/wording/precision.hpp"
#include "report/wording/why.hpp"
#include "system/shell.hpp"

namespace mprof {
namespace {

using Json = nlohmann::ordered_json;

/// In as many digits as anybody reads.
Json number(double value) {
  if (!std::isfinite(value)) return nullptr;
  return std::strtod(fmt::format("{:.5g}", value).c_str(), nullptr);
}

Json number(const std::optional<double>& value) {
  return value ? number(*value) : Json(nullptr);
}

Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

Json time_json(const JudgedTime& time) {
  Json json{{"metric", time.metric}, {"op", time.op}};
  json["file"] = time.file ? number(time.file->median) : Json(nullptr);
  json["against"] = time.against ? number(time.against->median) : Json(nullptr);
  json["factor"] = number(time.speed_up.factor);
  json["low"] = time.speed_up.interval ? number(time.speed_up.interval->low) : Json(nullptr);
  json["high"] = time.speed_up.interval ? number(time.speed_up.interval->high) : Json(nullptr);
  json["verdict"] = to_string(time.speed_up.verdict);
  return json;
}

Json headline_json(const Judgement& judgement) {
  const JudgedTime* const time = judgement.decisive();
  if (time == nullptr || !time->file) return nullptr;
  const auto& interval = time->file->interval;
  return {{"median", number(time->file->median)},
          {"low", interval ? number(interval->low) : Json(nullptr)},
          {"high", interval ? number(interval->high) : Json(nullptr)},
          {"unit", "s"},
          {"metric", time->metric},
          {"op", time->op},
          {"rounds", time->file->rounds}};
}

/// Without a test, as after the quick round, the medians give it.
std::optional<double> factor_of(const JudgedTime& time) {
  if (time.speed_up.factor) return time.speed_up.factor;
  if (!time.file || !time.against) return std::nullopt;
  return time.against->median / time.file->median;
}

Json speed_up_json(const Judgement& judgement) {
  const JudgedTime* const time = judgement.decisive();
  if (time == nullptr || !factor_of(*time)) return nullptr;
  const auto& interval = time->speed_up.interval;
  return {{"over", judgement.against},
          {"factor", number(factor_of(*time))},
          {"low", interval ? number(interval->low) : Json(nullptr)},
          {"high", interval ? number(interval->high) : Json(nullptr)},
          {"decided", judgement.verdict.has_value() && judgement.verdict != Verdict::inconclusive},
          {"no_change_above", number(time->speed_up.no_change_above)},
          {"blocks", judgement.blocks}};
}

Json own_clock_json(const std::optional<OwnClock>& own) {
  if (!own) return nullptr;
  return {{"executions", own->executions},
          {"file", number(own->file)},
          {"against", number(own->against)},
          {"saved", number(own->saved)},
          {"low", number(own->low)},
          {"high", number(own->high)},
          {"resolution", number(own->resolution())},
          {"claimed", number(own->claimed)},
          {"confirms", own->confirms()},
          {"agrees", !own->contradicts()},
          {"unit", "s"}};
}

Json correct_json(const Judgement& judgement) {
  const auto compared = [&](double value) { return judgement.outputs == 0 ? Json(nullptr) : number(value); };
  return {{"passed", judgement.status == JudgeStatus::right},
          {"outputs", judgement.outputs},
          {"elements", judgement.elements},
          {"max_error", compared(judgement.max_error)},
          {"relative_error", compared(judgement.relative_error)},
          {"tolerance", compared(judgement.tolerance)},
          {"precision", judgement.precision.empty() ? Json(nullptr) : Json(judgement.precision)},
          {"declared_precision",
           judgement.declared_precision.empty() ? Json(nullptr) : Json(judgement.declared_precision)},
          {"checks", judgement.checks}};
}

Json stages_json(const Judgement& judgement) {
  Json stages = Json::array();
  for (const JudgedStage& stage : judgement.stages) {
    Json json{{"stage", to_string(stage.stage)},
              {"outcome", to_string(stage.outcome)},
              {"seconds", number(stage.seconds)}};
    if (!stage.why.empty()) json["why"] = stage.why;
    stages.push_back(std::move(json));
  }
  return stages;
}

Json kernels_json(const Judgement& judgement) {
  Json kernels = Json::array();
  for (const JudgedKernel& kernel : judgement.kernels)
    kernels.push_back({{"name", kernel.name},
                       {"share", number(kernel.share)},
                       {"bottleneck", text_or_null(kernel.bottleneck)},
                       {"because", kernel.because}});
  return kernels;
}

Json advice_json(const Judgement& judgement) {
  Json advice = Json::array();
  for (const JudgedAdvice& one : judgement.advice)
    advice.push_back({{"rule", one.rule},
                      {"op", one.op},
                      {"text", one.text},
                      {"bound_gain", number(one.bound_gain)},
                      {"evidence", one.evidence}});
  return advice;
}

Json score_json(const Judgement& judgement) {
  if (!judgement.has_score) return nullptr;
  Json items = Json::array();
  for (const ScoreItem& item : judgement.items)
    items.push_back({{"name", item.name},
                     {"points", number(item.points)},
                     {"of", number(item.most)},
                     {"passed", item.passed},
                     {"why", item.why}});
  return {{"points", number(judgement.score())}, {"of", number(judgement.most_points())}, {"items", items}};
}

Json next_json(const Judgement& judgement) {
  Json next = Json::array();
  const std::string file = shell_quoted(tamed(judgement.file));
  const bool has_counters = std::ranges::any_of(
      judgement.stages, [](const JudgedStage& stage) { return stage.stage == JudgeStage::counters; });
  if (judgement.status == JudgeStatus::right && judgement.device == "cuda" && !has_counters)
    next.push_back(fmt::format("mprof judge {} --passes timing,counters", file));
  if (judgement.verdict == Verdict::inconclusive)
    next.push_back(fmt::format("mprof judge {} --budget 300", file));
  return next;
}

Json suspicions_json(const Judgement& judgement) {
  Json suspicions = Json::array();
  for (const Suspicion& one : judgement.suspicions)
    suspicions.push_back({{"check", one.check}, {"seen", one.seen}, {"limit", text_or_null(one.limit)}});
  return suspicions;
}

Json whole_json(const Judgement& judgement) {
  Json json{{"schema", judge_schema}, {"status", to_string(judgement.status)}};
  json["verdict"] = judgement.verdict ? Json(to_string(*judgement.verdict)) : Json(nullptr);
  json["answer"] = judgement_answer(judgement);
  json["reason"] = text_or_null(judgement.reason);
  json["file"] = tamed(judgement.file);
  json["variant"] = text_or_null(judgement.variant);
  json["device"] = text_or_null(judgement.device);
  json["problem"] = text_or_null(judgement.problem);
  json["small_problem"] = text_or_null(judgement.small_problem);
  json["time"] = headline_json(judgement);
  json["speed_up"] = speed_up_json(judgement);
  Json times = Json::array();
  for (const JudgedTime& time : judgement.times) times.push_back(time_json(time));
  json["times"] = std::move(times);
  json["own_clock"] = own_clock_json(judgement.own_clock);
  json["correct"] = correct_json(judgement);
  json["suspicions"] = suspicions_json(judgement);
  json["of_possible"] = judgement.of_possible
                            ? Json{{"percent", number(*judgement.of_possible)}, {"bound", judgement.bound}}
                            : Json(nullptr);
  json["expectations"] = {{"declared", judgement.expectations}, {"met", judgement.expectations_met}};
  json["kernels"] = kernels_json(judgement);
  json["advice"] = advice_json(judgement);
  json["compiler"] = judgement.compiler
                         ? Json{{"errors", judgement.compiler->errors}, {"more", judgement.compiler->more}}
                         : Json(nullptr);
  json["untrusted_output"] = text_or_null(judgement.untrusted_output);
  json["conditions"] = {{"machine", text_or_null(judgement.machine)}, {"disturbed", judgement.disturbed}};
  json["sandbox"] = judgement.sandbox;
  json["stages"] = stages_json(judgement);
  json["seconds"] = number(judgement.seconds);
  Json absent = Json::array();
  for (const JudgeAbsence& one : judgement.absent) absent.push_back({{"what", one.what}, {"why", one.why}});
  json["absent"] = std::move(absent);
  json["score"] = score_json(judgement);
  json["truncated"] = Json::array();
  json["run"] = text_or_null(judgement.run);
  json["next"] = next_json(judgement);
  return json;
}

/// Takes a little away of what is needed least; false where nothing is left to take.
bool shrink(Json& json) {
  const auto note = [&](const char* what) {
    Json& truncated = json["truncated"];
    if (std::ranges::find(truncated, Json(what)) == truncated.end()) truncated.push_back(what);
    return true;
  };
  constexpr std::size_t least_output = 256;
  Json& printed = json["untrusted_output"];
  if (printed.is_string()) {
    const std::string text = printed.get<std::string>();
    printed = text.size() > least_output ? Json(tamed_end(text, text.size() / 2)) : Json(nullptr);
    return note("untrusted_output");
  }
  for (const char* list : {"advice", "kernels"}) {
    if (json[list].empty()) continue;
    json[list].erase(json[list].size() - 1);
    return note(list);
  }
  if (json["score"].is_object() && json["score"]["items"].size() > 1) {
    json["score"]["items"].erase(json["score"]["items"].size() - 1);
    return note("score.items");
  }
  if (json["compiler"].is_object() && json["compiler"]["errors"].size() > 1) {
    Json& compiler = json["compiler"];
    compiler["errors"].erase(compiler["errors"].size() - 1);
    compiler["more"] = compiler["more"].get<std::size_t>() + 1;
    return note("compiler.errors");
  }
  for (const char* list : {"times", "absent", "suspicions", "stages"}) {
    if (json[list].empty()) continue;
    json[list].erase(json[list].size() - 1);
    return note(list);
  }
  return false;
}

std::string time_text(const JudgedTime& time) {
  return format::quantity(time.file->median, Unit::second);
}

std::string name_of(const JudgedTime& time) {
  return time.op.empty() ? "in all" : fmt::format("of {}", time.op);
}

void add_line(std::vector<std::string>& lines, std::string line) {
  if (!line.empty()) lines.push_back(std::move(line));
}

std::string own_clock_text(const std::optional<OwnClock>& own) {
  if (!own) return "";
  return fmt::format("mprof's own clock: {} an execution, {} of the other; it {} a difference (±{}).",
                     format::quantity(own->file, Unit::second), format::quantity(own->against, Unit::second),
                     own->confirms() ? "confirms" : "is too coarse to confirm",
                     format::quantity(own->resolution(), Unit::second));
}

std::string stages_text(const Judgement& judgement) {
  std::string text;
  for (const JudgedStage& stage : judgement.stages) {
    text +=
        fmt::format("{}{} {}", text.empty() ? "" : ", ", to_string(stage.stage),
                    stage.outcome == StageOutcome::skipped ? std::string("skipped")
                                                           : format::quantity(stage.seconds, Unit::second));
  }
  return fmt::format("Stages: {}.", text);
}

std::string correct_text(const Judgement& judgement) {
  if (judgement.outputs == 0) return "";
  return fmt::format(
      "Outputs: largest relative error {} (tolerance {}), {} elements compared by mprof itself.",
      format::scientific(judgement.relative_error), format::scientific(judgement.tolerance),
      format::count(judgement.elements));
}

}  // namespace

Json judgement_json(const Judgement& judgement, std::size_t most_bytes) {
  Json json = whole_json(judgement);
  while (json::compact(json).size() > most_bytes && shrink(json)) {
  }
  return json;
}

/// "right", "right in FP16 or TF32, not in FP32", or "right in FP16, as declared".
std::string how_right(const Judgement& judgement) {
  const std::string lower = right_in({.passed = true,
                                      .tolerance = judgement.tolerance,
                                      .precision = judgement.precision,
                                      .declared_precision = judgement.declared_precision});
  if (lower.empty()) return "right";
  return lower + (judgement.declared_precision.empty() ? ", not in FP32" : ", as declared");
}

std::string judgement_answer(const Judgement& judgement) {
  const std::string name = tamed(judgement.file);
  if (judgement.status != JudgeStatus::right) {
    const std::string_view what = judgement.status == JudgeStatus::compile_failed ? "does not compile"
                                  : judgement.status == JudgeStatus::wrong        ? "is wrong"
                                  : judgement.status == JudgeStatus::suspect      ? "is suspect"
                                  : judgement.status == JudgeStatus::timeout      ? "took too long"
                                                                                  : "crashed";
    return fmt::format("{} {}, so it has no time.", name, what);
  }
  const std::string right = how_right(judgement);
  const JudgedTime* const time = judgement.decisive();
  if (time == nullptr || !time->file || !factor_of(*time))
    return fmt::format("{} is {}, and was not timed.", name, right);
  const double factor = *factor_of(*time);
  const std::string which = time->op.empty() ? "" : fmt::format(" in {}", time->op);
  switch (judgement.verdict.value_or(Verdict::inconclusive)) {
    case Verdict::faster:
      return fmt::format("{} is {}, and {} as fast as {}{}.", name, right, format::times(factor),
                         judgement.against, which);
    case Verdict::slower:
      return fmt::format("{} is {}, and slower than {} ({} as fast{}).", name, right, judgement.against,
                         format::times(factor), which);
    case Verdict::same:
      return fmt::format("{} is {}, and as fast as {}.", name, right, judgement.against);
    default:
      return fmt::format("{} is {}; whether it is faster than {} is undecided (about {}).", name, right,
                         judgement.against, format::times(factor));
  }
}

std::string judgement_text(const Judgement& judgement) {
  std::vector<std::string> lines{judgement_answer(judgement)};
  if (!judgement.reason.empty()) add_line(lines, fmt::format("Why: {}.", judgement.reason));
  if (judgement.compiler) {
    constexpr std::size_t shown = 5;
    const auto& errors = judgement.compiler->errors;
    for (std::size_t i = 0; i < std::min(shown, errors.size()); ++i) add_line(lines, "  " + errors[i]);
  }
  if (const JudgedTime* time = judgement.decisive(); time != nullptr && time->file && time->against)
    add_line(lines,
             fmt::format("Time {}: {}, {} of {}; {} blocks, verdict {}.", name_of(*time), time_text(*time),
                         format::quantity(time->against->median, Unit::second), judgement.against,
                         judgement.blocks,
                         judgement.verdict ? to_string(*judgement.verdict) : std::string_view("none")));
  add_line(lines, own_clock_text(judgement.own_clock));
  add_line(lines, correct_text(judgement));
  for (const Suspicion& one : judgement.suspicions)
    if (lines.size() < 6 && !one.limit.empty())
      add_line(lines, fmt::format("Suspicion: {}; {}.", one.seen, one.limit));
  if (judgement.of_possible)
    add_line(lines, fmt::format("It reaches {} of what this machine can do ({}).",
                                format::whole_percent(*judgement.of_possible), judgement.bound));
  if (!judgement.advice.empty())
    add_line(lines, fmt::format("Next: {} ({}).", judgement.advice.front().text,
                                format::up_to(judgement.advice.front().bound_gain)));
  if (judgement.has_score)
    add_line(lines, fmt::format("Score: {} of {}.", format::significant(judgement.score()),
                                format::significant(judgement.most_points())));
  add_line(lines, stages_text(judgement));
  if (judgement.sandbox == "none") add_line(lines, "It ran without a sandbox, with the rights of this user.");
  constexpr std::size_t most_lines = 10;
  if (lines.size() > most_lines) lines.resize(most_lines);
  return fmt::format("{}\n", fmt::join(lines, "\n"));
}

}  // namespace mprof
