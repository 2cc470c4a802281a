#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "model/facts.hpp"
#include "report/analysis/compare.hpp"
#include "report/analysis/facts.hpp"
#include "report/text/format.hpp"
#include "system/error.hpp"

namespace mprof {
namespace {

bool is_machine_fact(std::string_view group, std::string_view name) {
  return std::any_of(identifying_facts.begin(), identifying_facts.end(),
                     [&](const FactName& fact) { return fact.group == group && fact.name == name; });
}

/// A fact that only one run knows is no sign of another machine.
std::vector<std::string> machine_differences(const Run& a, const Run& b) {
  std::vector<std::string> differences;
  for (const auto& [group, name] : identifying_facts) {
    const std::string in_a = known_fact(a, group, name);
    const std::string in_b = known_fact(b, group, name);
    if (in_a.empty() || in_b.empty() || in_a == in_b) continue;
    differences.push_back(fmt::format("{} {}: {} in A, {} in B", group_title(group), name, in_a, in_b));
  }
  return differences;
}

std::string fact_or_dash(const Environment& environment, const std::string& group, const std::string& name) {
  const auto facts = environment.find(group);
  if (facts == environment.end()) return "not recorded";
  const auto fact = facts->second.find(name);
  return fact == facts->second.end() ? "not recorded" : fact_text(group, name, fact->second);
}

void note_difference(std::vector<std::string>& notes, std::string_view what, const std::string& a,
                     const std::string& b) {
  if (a != b)
    notes.push_back(
        fmt::format("{}: {} in A, {} in B", what, a.empty() ? "none" : a, b.empty() ? "none" : b));
}

/// Facts of the build, the libraries and the system that differ, in the order of their names.
void note_environment(std::vector<std::string>& notes, const Environment& a, const Environment& b) {
  Environment both = a;
  for (const auto& [group, facts] : b) both[group].insert(facts.begin(), facts.end());
  for (const std::string& group : ordered_groups(both)) {
    for (const auto& [name, fact] : both[group]) {
      if (is_machine_fact(group, name)) continue;
      note_difference(notes, fmt::format("{}, {}", group_title(group), fact_title(group, name)),
                      fact_or_dash(a, group, name), fact_or_dash(b, group, name));
    }
  }
}

std::vector<std::string> notes_on(const Run& a, const Run& b, const CompareOptions& options) {
  std::vector<std::string> notes;
  if (options.allow_different_machines) {
    for (const std::string& difference : machine_differences(a, b)) {
      notes.push_back("Different machines, so no verdict says anything of the code alone: " + difference);
    }
  }
  note_difference(notes, "mprof version", a.tool.version, b.tool.version);
  note_difference(notes, "mprof revision", a.tool.revision, b.tool.revision);
  note_difference(notes, "Quick run", a.plan.quick ? "yes" : "no", b.plan.quick ? "yes" : "no");
  note_difference(notes, "Images", format::one_line(a.plan.images), format::one_line(b.plan.images));
  note_difference(notes, "Weights", format::one_line(a.plan.weights), format::one_line(b.plan.weights));
  note_difference(notes, "State of the run", std::string(to_string(a.state)),
                  std::string(to_string(b.state)));
  note_environment(notes, a.environment, b.environment);
  return notes;
}

TimeComparison compare_time(const Case& a, const Case& b, std::string_view metric, const std::string& op,
                            double threshold) {
  TimeComparison result{
      std::string(metric), op, value_of(a, metric, op), value_of(b, metric, op), {}, {}, {}, {}};
  result.speed_up = speed_up(result.a, result.b);
  if (!result.a || !result.b) {
    result.reason =
        fmt::format("no time in {}: {}", result.a ? "B" : "A", result.a ? result.b.absent : result.a.absent);
    return result;
  }
  if (result.speed_up) result.ratio = result.b->median / result.a->median;
  const Judgement judgement = judge(*result.a, *result.b, threshold);
  result.verdict = judgement.verdict;
  result.reason = judgement.reason;
  return result;
}

std::vector<TimeComparison> compare_times(const Case& a, const Case& b, double threshold) {
  std::vector<TimeComparison> times;
  for (const OpInfo& op : a.ops) {
    // By layer time as soon as one side's op time says little.
    const bool outside =
        comparable_time(a, op.name) == "layer_time" || comparable_time(b, op.name) == "layer_time";
    const std::string_view metric = outside ? "layer_time" : "op_time";
    times.push_back(compare_time(a, b, metric, op.name, threshold));
  }
  times.push_back(compare_time(a, b, "total_time", "", threshold));
  return times;
}

bool is_broken(Status status) {
  return status == Status::wrong || status == Status::failed || status == Status::crashed ||
         status == Status::timeout;
}

std::vector<std::string> regressions_of(const CaseComparison& result) {
  std::vector<std::string> regressions;
  if (result.status_a == Status::ok && is_broken(result.status_b)) {
    regressions.push_back(fmt::format("was ok, is {}", to_string(result.status_b)));
  }
  for (const TimeComparison& time : result.times) {
    if (time.verdict != Verdict::slower) continue;
    regressions.push_back(fmt::format("{} slower by {}",
                                      time.op.empty() ? "total time" : format::one_line(time.op),
                                      format::percent(*time.ratio - 1)));
  }
  if (result.accuracy_change && *result.accuracy_change < -tolerated_accuracy_loss) {
    regressions.push_back(fmt::format("accuracy {}", format::signed_accuracy(*result.accuracy_change)));
  }
  return regressions;
}

CaseComparison compare_case(const Case& a, const Case& b, double threshold) {
  CaseComparison result;
  result.id = a.id;
  result.key = a.key;
  result.status_a = case_status(a);
  result.status_b = case_status(b);
  result.reason_a = case_reason(a);
  result.reason_b = case_reason(b);
  if (result.status_a == Status::ok && result.status_b == Status::ok)
    result.times = compare_times(a, b, threshold);
  result.accuracy_a = value_of(a, "accuracy");
  result.accuracy_b = value_of(b, "accuracy");
  if (result.accuracy_a && result.accuracy_b) {
    result.accuracy_change = result.accuracy_b->median - result.accuracy_a->median;
  }
  result.regressions = regressions_of(result);
  return result;
}

RunSummary summary_of(const Run& run, const std::string& name) {
  return {name, run.started, run.tool.version, run.tool.revision, machine_name(run), run.state};
}

[[noreturn]] void refuse(const std::vector<std::string>& reasons, const CompareOptions& options,
                         std::string_view next_step) {
  throw Error(ExitCode::incomparable, fmt::format("{} and {} cannot be compared: {}. {}", options.name_a,
                                                  options.name_b, fmt::join(reasons, "; "), next_step));
}

void require_one_machine(const Run& a, const Run& b, const CompareOptions& options) {
  const auto differences = machine_differences(a, b);
  if (differences.empty() || options.allow_different_machines) return;
  std::vector<std::string> reasons{"they come from different machines"};
  reasons.insert(reasons.end(), differences.begin(), differences.end());
  refuse(reasons, options,
         "Record both on one machine, or give --allow-different-machines to see the figures all the same.");
}

}  // namespace

bool Comparison::regression() const {
  return std::any_of(cases.begin(), cases.end(),
                     [](const CaseComparison& c) { return !c.regressions.empty(); });
}

std::size_t Comparison::count(Verdict verdict) const {
  std::size_t number = 0;
  for (const CaseComparison& c : cases) {
    number += static_cast<std::size_t>(std::count_if(
        c.times.begin(), c.times.end(), [&](const TimeComparison& time) { return time.verdict == verdict; }));
  }
  return number;
}

Comparison compare(const Run& a, const Run& b, const CompareOptions& options) {
  require_one_machine(a, b, options);
  Comparison comparison{
      summary_of(a, options.name_a), summary_of(b, options.name_b), options.threshold, {}, {}, {},
      notes_on(a, b, options)};
  for (const Case& c : a.cases) {
    if (const Case* other = find_case(b, c.key)) {
      comparison.cases.push_back(compare_case(c, *other, options.threshold));
    } else {
      comparison.only_in_a.push_back(c.id);
    }
  }
  for (const Case& c : b.cases) {
    if (find_case(a, c.key) == nullptr) comparison.only_in_b.push_back(c.id);
  }
  if (comparison.cases.empty()) {
    refuse({"they have no case in common"}, options, "Run the same variants and batches in both.");
  }
  return comparison;
}

}  // namespace mprof
