// SPDX-License-Identifier: MIT
#include "report/analysis/judgement/session.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/rounds.hpp"

namespace mprof {
namespace {

/// What each whole block saw of a time.
std::vector<double> blocks_of(const Case& c, std::string_view metric, std::string_view op) {
  const Measurement* const row = find_measurement(c, metric, op);
  std::vector<double> blocks;
  if (row == nullptr) return blocks;
  const std::vector<double> medians = round_medians(*row);
  for (std::size_t i = 0; i + rounds_of_a_block <= medians.size(); i += rounds_of_a_block)
    blocks.push_back(geometric_mean(std::span(medians).subspan(i, rounds_of_a_block)));
  return blocks;
}

bool differs(const RatioTest& test, double p, double threshold) {
  return p <= alpha_of_a_look() && std::abs(test.ratio - 1) > threshold;
}

bool is_timed(const Case& c, const std::string& op) {
  return std::ranges::any_of(c.passes, [&](const PassResult& pass) {
    return std::ranges::any_of(pass.measurements, [&](const Measurement& row) { return row.op == op; });
  });
}

/// The tests of one time, over as many blocks as all three have.
SessionTime time_of(const Case& a, const Case& b, const Case& control, std::string_view metric,
                    const std::string& op, std::size_t& blocks) {
  SessionTime time{
      std::string(metric),        op, value_of(a, metric, op), value_of(b, metric, op), {}, {}, {},
      unlike_formats_of(a, b, op)};
  const std::vector<double> of_a = blocks_of(a, metric, op), of_b = blocks_of(b, metric, op),
                            of_control = blocks_of(control, metric, op);
  const std::size_t count = std::min({of_a.size(), of_b.size(), of_control.size()});
  blocks = std::min(blocks, count);
  const auto first = [&](const std::vector<double>& values) { return std::span(values).first(count); };
  time.test = test_paired(first(of_a), first(of_b), alpha_of_a_look());
  time.control = test_paired(first(of_a), first(of_control), alpha_of_a_look());
  return time;
}

std::vector<double> adjusted(const std::vector<SessionTime>& times,
                             std::optional<RatioTest> SessionTime::*test) {
  std::vector<double> p;
  for (const SessionTime& time : times) p.push_back(time.*test ? (time.*test)->p : 1);
  return holm(p);
}

/// Why a time has no test, or its control none.
Why why_untested(const SessionTime& time, std::size_t blocks) {
  if (!time.a) return time.a.absent;
  if (!time.b) return time.b.absent;
  return blocks < 2 ? Because::too_few_blocks : Because::blocks_vary;
}

void decide(SessionTime& time, double p, double p_of_control, std::size_t blocks,
            const Thresholds& thresholds) {
  if (!time.test || !time.control) {
    time.speed_up = no_speed_up(why_untested(time, blocks));
    return;
  }
  const double threshold = thresholds.of(*time.a, *time.b);
  SpeedUp& result = time.speed_up;
  result.factor = 1 / time.test->ratio;
  result.interval = Interval{1 / time.test->interval.high, 1 / time.test->interval.low};
  result.p = p;
  if (differs(*time.control, p_of_control, threshold)) {
    result.reason = {Because::control_differs, {}, {time.control->ratio - 1}};
  } else if (differs(*time.test, p, threshold)) {
    result.verdict = time.test->ratio < 1 ? Verdict::faster : Verdict::slower;
  } else if (is_within(time.test->interval, threshold)) {
    result.verdict = Verdict::same;
    result.no_change_above = excluded_change(time.test->interval);
  } else {
    result.reason = Because::blocks_do_not_tell;
    result.no_change_above = excluded_change(time.test->interval);
  }
}

}  // namespace

bool Session::told() const {
  return std::ranges::all_of(times, [](const SessionTime& time) {
    return !time.a || !time.b || time.speed_up.verdict != Verdict::inconclusive;
  });
}

bool Session::is_slower() const {
  return std::ranges::any_of(
      times, [](const SessionTime& time) { return time.speed_up.verdict == Verdict::slower; });
}

Session judge_session(const Case& a, const Case& b, const Case& control, const Thresholds& thresholds) {
  Session session{.blocks = std::numeric_limits<std::size_t>::max()};
  for (const OpInfo& op : a.ops) {
    if (!is_timed(a, op.name) && !is_timed(b, op.name))
      continue;  // of a program as a whole, whose total is told
    session.times.push_back(time_of(a, b, control, comparable_time(a, b, op.name), op.name, session.blocks));
  }
  session.times.push_back(time_of(a, b, control, "total_time", "", session.blocks));
  const std::vector<double> p = adjusted(session.times, &SessionTime::test),
                            of_control = adjusted(session.times, &SessionTime::control);
  for (std::size_t i = 0; i < session.times.size(); ++i)
    decide(session.times[i], p[i], of_control[i], session.blocks, thresholds);
  return session;
}

}  // namespace mprof
