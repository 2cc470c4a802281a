// SPDX-License-Identifier: MIT
#include "serve/judge/score.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "report/text/format.hpp"
#include "serve/judge/judgement_json.hpp"

namespace mprof {
namespace {

using Json = nlohmann::ordered_json;

/// How far the measured value itself may miss what is wanted: an interval that is wide enough reaches
/// anything.
constexpr double most_missing = 0.05;

/// The speed-up of the time that stands for all, and how far up it may be.
struct Speed {
  double factor = 0;
  double high = 0;
};

std::optional<Speed> speed_of(const Judgement& judgement) {
  const JudgedTime* const time = judgement.decisive();
  if (time == nullptr || !time->file || !time->against) return std::nullopt;
  const double factor = time->speed_up.factor.value_or(time->against->median / time->file->median);
  return Speed{factor, time->speed_up.interval ? time->speed_up.interval->high : factor};
}

ScoreItem speed_up_item(const TimeRule& rule, const std::optional<Speed>& speed) {
  ScoreItem item{.name = rule.name, .most = rule.points};
  if (!speed) {
    item.why = "there is no time";
    return item;
  }
  item.passed = speed->high >= *rule.speed_up && speed->factor >= (1 - most_missing) * *rule.speed_up;
  item.points = item.passed ? rule.points : 0;
  item.why =
      fmt::format("{} as fast; {} wanted", format::times(speed->factor), format::plain_times(*rule.speed_up));
  return item;
}

ScoreItem seconds_item(const TimeRule& rule, const Judgement& judgement) {
  ScoreItem item{.name = rule.name, .most = rule.points};
  const JudgedTime* const time = judgement.decisive();
  if (time == nullptr || !time->file) {
    item.why = "there is no time";
    return item;
  }
  const double least =
      time->file->interval ? std::min(time->file->interval->low, time->file->median) : time->file->median;
  item.passed = least <= *rule.seconds && time->file->median <= (1 + most_missing) * *rule.seconds;
  item.points = item.passed ? rule.points : 0;
  item.why = fmt::format("{}; at most {} wanted", format::quantity(time->file->median, Unit::second),
                         format::quantity(*rule.seconds, Unit::second));
  return item;
}

ScoreItem range_item(const TimeRule& rule, const std::optional<Speed>& speed) {
  ScoreItem item{.name = rule.name, .most = rule.points};
  if (!speed) {
    item.why = "there is no time";
    return item;
  }
  const double share = std::log(speed->factor / *rule.from) / std::log(*rule.to / *rule.from);
  item.points = rule.points * std::clamp(share, 0.0, 1.0);
  item.passed = share >= 1;
  item.why = fmt::format("{} as fast; no points up to {}, all from {} on", format::times(speed->factor),
                         format::plain_times(*rule.from), format::plain_times(*rule.to));
  return item;
}

ScoreItem time_item(const TimeRule& rule, const Judgement& judgement) {
  if (rule.speed_up) return speed_up_item(rule, speed_of(judgement));
  if (rule.seconds) return seconds_item(rule, judgement);
  return range_item(rule, speed_of(judgement));
}

ScoreItem expectations_item(double points, const Judgement& judgement) {
  ScoreItem item{.name = "expectations met", .most = points};
  if (judgement.expectations == 0) {
    item.why = "the file declares none";
    return item;
  }
  item.points =
      points * static_cast<double>(judgement.expectations_met) / static_cast<double>(judgement.expectations);
  item.passed = judgement.expectations_met == judgement.expectations;
  item.why = fmt::format("{} of {} met", judgement.expectations_met, judgement.expectations);
  return item;
}

}  // namespace

Rubric plain_rubric() {
  return {.right = 100};
}

void add_score(const Rubric& rubric, Judgement& judgement) {
  const bool is_right = judgement.status == JudgeStatus::right;
  judgement.has_score = true;
  judgement.items = {{.name = "right",
                      .points = is_right ? rubric.right : 0,
                      .most = rubric.right,
                      .why = is_right ? "its outputs are right" : judgement.reason,
                      .passed = is_right}};
  for (const TimeRule& rule : rubric.times) judgement.items.push_back(time_item(rule, judgement));
  if (rubric.expectations > 0) judgement.items.push_back(expectations_item(rubric.expectations, judgement));
  if (is_right) return;
  for (ScoreItem& item : judgement.items) {
    item.points = 0;
    item.passed = false;
  }
}

Json gradescope_json(const Judgement& judgement) {
  Json tests = Json::array();
  for (const ScoreItem& item : judgement.items)
    tests.push_back({{"name", item.name},
                     {"score", item.points},
                     {"max_score", item.most},
                     {"status", item.passed ? "passed" : "failed"},
                     {"output", item.why}});
  return {{"score", judgement.score()}, {"output", judgement_text(judgement)},
          {"output_format", "text"},    {"execution_time", judgement.seconds},
          {"visibility", "visible"},    {"tests", std::move(tests)}};
}

}  // namespace mprof
