// SPDX-License-Identifier: MIT
#include "report/analysis/standing/tuning.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/analysis/kernels/op_metrics.hpp"
#include "system/error.hpp"
#include "system/suggest.hpp"

namespace mprof {
namespace {

const QualityInfo* find_quality(const FamilyInfo& family, const std::string& metric) {
  const auto found = std::ranges::find(family.qualities, metric, &QualityInfo::metric);
  return found == family.qualities.end() ? nullptr : &*found;
}

template <class Names>
bool is_among(const Names& names, std::string_view metric) {
  return std::ranges::find(names, metric) != names.end();
}

/// Rates of an op by the work that its definition names.
struct Rate {
  std::string_view metric;
  double OpInfo::*work;
};

constexpr std::array rates{Rate{"flop_rate", &OpInfo::flops},
                           Rate{"compute_throughput", &OpInfo::flops},
                           Rate{"byte_rate", &OpInfo::bytes},
                           Rate{"memory_throughput", &OpInfo::bytes},
                           Rate{"special_rate", &OpInfo::special_operations},
                           Rate{"special_throughput", &OpInfo::special_operations}};

/// What the counters pass has of a CPU variant.
constexpr std::array<std::string_view, 3> cpu_counters{"cycles", "instructions", "cache_misses"};

/// What the timing pass has of a GPU's variants alone.
constexpr std::array<std::string_view, 4> gpu_alone{"launched_op_time", "gpu_throttled_samples",
                                                    "other_gpu_processes", "other_gpu_share"};

/// Of these a case has one value, though they add up.
constexpr std::array<std::string_view, 7> sums_of_whole{
    "peak_memory",      "gpu_throttled_samples", "dropped_records",          "zero_time_records",
    "reversed_records", "unattributed_records",  "attribution_disagreements"};

const Rate* find_rate(std::string_view metric) {
  const auto* const found = std::ranges::find(rates, metric, &Rate::metric);
  return found == rates.end() ? nullptr : found;
}

/// Whether ops have values of it that make none for all of them.
bool is_of_one_op(std::string_view metric) {
  return metric == "copy_overlap" || find_rate(metric) != nullptr;
}

bool is_of_whole(std::string_view metric) {
  const Metric* const row = find_metric(metric);
  if (row == nullptr || is_of_kernels(metric)) return false;
  return (row->combine == Combine::never && !is_of_one_op(metric)) || is_among(sums_of_whole, metric);
}

/// Those that can have a value of a metric of one op.
std::vector<std::string> ops_with(std::string_view metric, const std::vector<OpInfo>& ops) {
  const Rate* const rate = find_rate(metric);
  std::vector<std::string> names;
  for (const OpInfo& op : ops) {
    if (rate == nullptr || op.*(rate->work) > 0) names.push_back(op.name);
  }
  return names;
}

/// What is wrong with the op, or with having none; empty: nothing.
std::string obstacle_of_op(const Objective& objective, const std::vector<OpInfo>& ops) {
  if (!is_of_one_op(objective.metric)) return "";
  std::vector<std::string> with;
  for (const std::string& op : ops_with(objective.metric, ops)) with.push_back(objective.metric + ":" + op);
  if (with.empty())
    return "no op of the family needs such work by its definition. op_time is the time of all ops";
  if (objective.op.empty()) return fmt::format("it is of one op: {}", fmt::join(with, " or "));
  if (is_among(with, objective.metric + ":" + objective.op)) return "";
  return fmt::format("{} needs no such work by its definition. There is {}", objective.op,
                     fmt::join(with, " or "));
}

/// What the variant's device has none of; empty: it may have it.
std::string obstacle_of_device(const Objective& objective, const VariantInfo& variant) {
  if (variant.device != "cpu") {
    return is_among(cpu_counters, objective.metric)
               ? fmt::format(
                     "it counts what the CPU does, and {} runs on a GPU. Nsight Compute's counters, such as "
                     "dram__bytes.sum, are of its kernels",
                     variant.id)
               : "";
  }
  constexpr const char* times = "Its times are op_time, group_time and total_time";
  if (is_of_kernels(objective.metric))
    return fmt::format(
        "{} runs on the CPU, and hardware counters by such a name are of GPU kernels. Of the CPU "
        "there are {}, with --passes timing,counters",
        variant.id, fmt::join(cpu_counters, ", "));
  if (is_of_trace(objective.metric))
    return fmt::format("{} runs on the CPU, and the trace has only what a GPU and CUDA did. {}", variant.id,
                       times);
  if (is_among(gpu_alone, objective.metric))
    return fmt::format("{} runs on the CPU, and it is of a GPU. {}", variant.id, times);
  return "";
}

/// What lacks for it among the passes; empty: nothing.
std::string obstacle_of_passes(const Objective& objective, const std::vector<Pass>& passes) {
  if (objective.metric == "hot_op_time")
    return "a search takes no times from warm caches, as mprof run --hot does. op_time is from cold ones";
  const Pass pass = pass_of(objective);
  if (std::ranges::count(passes, pass) > 0) return "";
  return fmt::format("it comes from the {0} pass: give --passes timing,{0}", to_string(pass));
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
                          "total_time, and all that docs/formats/run-record.md names.",
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

/// Why a case has no value that counts; nothing when it may have one.
Why obstacle(const CaseResult& result) {
  if (result.ok()) return {};
  if (result.status == Status::skipped && !result.reason.empty()) return said(result.reason);
  return {Because::case_ended, {std::string(to_string(result.status)), result.reason}};
}

bool is_recorded(const Case& c, const std::string& metric) {
  return std::ranges::any_of(c.passes, [&](const PassResult& pass) {
    return std::ranges::count(pass.measurements, Name(metric), &Measurement::metric) > 0;
  });
}

Why why_not_recorded(const Case& c, const Objective& objective) {
  const PassResult* const pass = find_pass(c, pass_of(objective));
  if (pass != nullptr && pass->status != Status::ok && !pass->reason.empty())
    return {Because::pass_said, {std::string(to_string(pass->pass)), pass->reason}};
  return {Because::metric_of_no_pass, {objective.metric}};
}

Candidate candidate_of(const Run& run, std::size_t index, const Objective& objective) {
  Candidate candidate{.index = index, .result = result_of(run, run.cases[index])};
  candidate.reason = obstacle(candidate.result);
  candidate.value = candidate.reason.empty()
                        ? reading_for(candidate.result, objective.metric, objective.op).value
                        : absent_value(candidate.reason);
  if (candidate.value) return candidate;
  candidate.reason = candidate.value.absent;
  if (candidate.result.ok() && !is_recorded(run.cases[index], objective.metric))
    candidate.reason = why_not_recorded(run.cases[index], objective);
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
  if (is_of_whole(objective.metric) || find_quality(family, objective.metric) != nullptr)
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

Pass pass_of(const Objective& objective) {
  if (is_of_kernels(objective.metric) || is_among(cpu_counters, objective.metric)) return Pass::counters;
  return is_of_trace(objective.metric) ? Pass::trace : Pass::timing;
}

void require_values(const std::string& text, const Objective& objective, const Run& run) {
  const VariantInfo& variant = *find_variant(run, run.plan.variants.front());
  const FamilyInfo* const family = find_family(run, variant.family);
  if (family != nullptr && find_quality(*family, objective.metric) != nullptr) return;
  std::string obstacle = obstacle_of_device(objective, variant);
  if (obstacle.empty()) obstacle = obstacle_of_op(objective, run.cases.front().ops);
  if (obstacle.empty()) obstacle = obstacle_of_passes(objective, run.plan.passes);
  if (!obstacle.empty()) throw Error(ExitCode::usage, fmt::format("--objective {}: {}.", text, obstacle));
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
