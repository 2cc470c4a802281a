#include "report/analysis/tuning.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/analysis/readings.hpp"
#include "report/text/format.hpp"
#include "system/error.hpp"
#include "system/suggest.hpp"

namespace mprof {
namespace {

const QualityInfo* find_quality(const FamilyInfo& family, const std::string& metric) {
  const auto found = std::ranges::find(family.qualities, metric, &QualityInfo::metric);
  return found == family.qualities.end() ? nullptr : &*found;
}

[[noreturn]] void refuse_metric(const std::string& text, const std::string& metric,
                                const FamilyInfo& family) {
  std::vector<std::string> known;
  for (const Metric& row : metric_catalogue()) {
    if (row.better != Better::neither) known.emplace_back(row.id);
  }
  for (const QualityInfo& quality : family.qualities) known.push_back(quality.metric);
  throw Error(ExitCode::usage,
              fmt::format("--objective {}: there is no metric '{}'.{} Such are op_time, group_time, "
                          "total_time, and all that docs/run-record.md names.",
                          text, metric, did_you_mean(metric, known)));
}

Better better_of(const std::string& text, const std::string& metric, const FamilyInfo& family) {
  const QualityInfo* const quality = find_quality(family, metric);
  const Metric* const row = find_metric(metric);
  if (quality == nullptr && row == nullptr) refuse_metric(text, metric, family);
  const Better better = quality != nullptr ? quality->better : row->better;
  if (better != Better::neither) return better;
  throw Error(ExitCode::usage,
              fmt::format("--objective {}: neither more nor less of {} is better.", text, metric));
}

/// Why a case has no value that counts; empty when it may have one.
std::string obstacle(const CaseResult& result) {
  if (result.ok()) return "";
  const std::string reason = format::one_line(result.reason);
  if (result.status == Status::skipped && !reason.empty()) return reason;
  return fmt::format("{}{}{}", to_string(result.status), reason.empty() ? "" : ": ", reason);
}

bool is_recorded(const Case& c, const std::string& metric) {
  return std::ranges::any_of(c.passes, [&](const PassResult& pass) {
    return std::ranges::count(pass.measurements, metric, &Measurement::metric) > 0;
  });
}

Candidate candidate_of(const Run& run, std::size_t index, const Objective& objective) {
  Candidate candidate{.index = index, .result = result_of(run, run.cases[index])};
  candidate.reason = obstacle(candidate.result);
  candidate.value = candidate.reason.empty()
                        ? reading_for(candidate.result, objective.metric, objective.op).value
                        : absent_value(candidate.reason);
  if (candidate.value) return candidate;
  candidate.reason = candidate.value.absent;
  if (candidate.result.ok() && !is_recorded(run.cases[index], objective.metric)) {
    candidate.reason = fmt::format(
        "no pass that ran records {}; --passes timing,trace has what comes from the "
        "trace",
        objective.metric);
  }
  return candidate;
}

void judge_against(Candidate& candidate, const Candidate& best) {
  if (!candidate.value) return;
  const bool is_time = candidate.value->clock != ClockSource::none && candidate.value->median > 0;
  if (&candidate == &best) {
    candidate.standing = Standing::best;
  } else if (is_time) {
    const StandingOfTime found = standing_against(candidate.value, best.value);
    candidate.standing = found.standing;
    candidate.reason = found.reason;
  } else {
    candidate.standing = candidate.value->median == best.value->median ? Standing::level : Standing::slower;
  }
}

}  // namespace

Objective parse_objective(const std::string& text, const FamilyInfo& family, const std::vector<OpInfo>& ops) {
  const std::size_t colon = text.find(':');
  Objective objective{.metric = text.substr(0, colon)};
  objective.better = better_of(text, objective.metric, family);
  if (objective.metric == "peak_memory")
    throw Error(ExitCode::usage,
                fmt::format("--objective {}: it is the most that a process has had, which measures several "
                            "points one behind the other, so that it says nothing of a point. gpu_memory "
                            "(with --passes timing,trace) is of each.",
                            text));
  if (colon == std::string::npos) return objective;
  if (objective.metric == "total_time" || find_quality(family, objective.metric) != nullptr)
    throw Error(ExitCode::usage,
                fmt::format("--objective {}: {} is of the whole, and of no op: leave :{} out.", text,
                            objective.metric, text.substr(colon + 1)));
  objective.op = text.substr(colon + 1);
  std::vector<std::string> known;
  for (const OpInfo& op : ops) known.push_back(op.name);
  if (std::ranges::find(known, objective.op) != known.end()) return objective;
  throw Error(ExitCode::usage,
              fmt::format("--objective {}: the family {} has no op '{}'.{} It has: {}.", text, family.id,
                          objective.op, did_you_mean(objective.op, known), fmt::join(known, ", ")));
}

Objective usual_objective(const Run& run) {
  bool has_ops = false, has_flaw = false;
  for (const Case& c : run.cases) {
    has_ops = has_ops || !c.ops.empty();
    if (case_status(c) != Status::ok) continue;
    has_flaw = has_flaw || std::ranges::any_of(c.ops, [&](const OpInfo& op) {
                 return comparable_time(c, op.name) != "op_time";
               });
  }
  if (!has_ops) return {.metric = "total_time"};
  return {.metric = has_flaw ? "group_time" : "op_time"};
}

std::vector<Candidate> ranked(const Run& run, const Objective& objective) {
  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i < run.cases.size(); ++i) candidates.push_back(candidate_of(run, i, objective));
  std::ranges::stable_sort(candidates, [&](const Candidate& a, const Candidate& b) {
    if (!a.value || !b.value) return static_cast<bool>(a.value) && !b.value;
    return cost_of(a.value, objective) < cost_of(b.value, objective);
  });
  for (Candidate& candidate : candidates) judge_against(candidate, candidates.front());
  return candidates;
}

double cost_of(const Value& value, const Objective& objective) {
  return objective.better == Better::higher ? -value->median : value->median;
}

std::vector<std::size_t> finalists(const std::vector<Candidate>& ranked, std::size_t fewest,
                                   std::size_t most) {
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < ranked.size() && chosen.size() < most; ++i) {
    if (!ranked[i].value) break;
    if (ranked[i].standing != Standing::slower || chosen.size() < fewest) chosen.push_back(i);
  }
  return chosen;
}

}  // namespace mprof
