#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
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

/// What the families read, by where it is; where that is the same, by what it holds.
void note_inputs(std::vector<std::string>& notes, const Run& a, const Run& b) {
  std::map<std::string, std::string> both = a.plan.inputs;
  both.insert(b.plan.inputs.begin(), b.plan.inputs.end());
  const auto path = [](const Run& run, const std::string& name) {
    const auto found = run.plan.inputs.find(name);
    return found == run.plan.inputs.end() ? std::string() : format::one_line(found->second);
  };
  for (const auto& [name, anywhere] : both)
    note_difference(notes, fmt::format("Input {}", format::one_line(name)), path(a, name), path(b, name));
  for (const InputFile& input : a.inputs) {
    const auto same = std::ranges::find_if(b.inputs, [&](const InputFile& other) {
      return other.family == input.family && other.name == input.name &&
             std::filesystem::path(other.path).filename() == std::filesystem::path(input.path).filename();
    });
    if (same == b.inputs.end()) continue;
    note_difference(notes, "Contents of " + format::one_line(input.path), format::one_line(input.checksum),
                    format::one_line(same->checksum));
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
  note_inputs(notes, a, b);
  note_difference(notes, "State of the run", std::string(to_string(a.state)),
                  std::string(to_string(b.state)));
  note_environment(notes, a.environment, b.environment);
  return notes;
}

TimeComparison compare_time(const Case& a, const Case& b, std::string_view metric, const std::string& op,
                            double threshold) {
  TimeComparison result{std::string(metric), op, value_of(a, metric, op), value_of(b, metric, op), {}, {}};
  result.speed_up = judge(result.a, result.b, threshold);
  if (!result.a || !result.b) {
    result.speed_up.reason =
        fmt::format("no time in {}: {}", result.a ? "B" : "A", result.a ? result.b.absent : result.a.absent);
  }
  if (result.speed_up) result.ratio = result.b->median / result.a->median;
  return result;
}

std::vector<TimeComparison> compare_times(const Case& a, const Case& b, double threshold) {
  std::vector<TimeComparison> times;
  for (const OpInfo& op : a.ops) {
    // By group time as soon as one side's op time says little.
    const bool outside =
        comparable_time(a, op.name) == "group_time" || comparable_time(b, op.name) == "group_time";
    const std::string_view metric = outside ? "group_time" : "op_time";
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
    if (time.speed_up.verdict != Verdict::slower) continue;
    regressions.push_back(fmt::format("{} slower by {}",
                                      time.op.empty() ? "total time" : format::one_line(time.op),
                                      format::percent(*time.ratio - 1)));
  }
  for (const QualityComparison& quality : result.qualities) {
    if (!quality.lost()) continue;
    regressions.push_back(fmt::format("{} {}", quality_word(quality.info),
                                      format::signed_quality(*quality.change, quality.info.unit)));
  }
  return regressions;
}

CaseComparison compare_case(const Case& a, const Case& b, const FamilyInfo* family, double threshold) {
  CaseComparison result;
  result.id = a.id;
  result.key = a.key;
  result.status_a = case_status(a);
  result.status_b = case_status(b);
  result.reason_a = case_reason(a);
  result.reason_b = case_reason(b);
  if (result.status_a == Status::ok && result.status_b == Status::ok)
    result.times = compare_times(a, b, threshold);
  if (family != nullptr) {
    for (const QualityInfo& info : family->qualities) {
      QualityComparison& quality = result.qualities.emplace_back(
          QualityComparison{info, value_of(a, info.metric), value_of(b, info.metric)});
      if (quality.a && quality.b) quality.change = quality.b->median - quality.a->median;
    }
  }
  result.regressions = regressions_of(result);
  return result;
}

/// The first part of a variant's id.
std::string family_of(const CaseKey& key) {
  return key.variant.substr(0, key.variant.find('/'));
}

std::map<CaseKey, const Case*> cases_by_key(const Run& run) {
  std::map<CaseKey, const Case*> cases;
  for (const Case& c : run.cases) cases.emplace(c.key, &c);
  return cases;
}

std::map<std::string, Words> words_of(const Run& run) {
  std::map<std::string, std::set<Problem>> problems;
  for (const Case& c : run.cases) problems[family_of(c.key)].insert(c.key.problem);
  std::map<std::string, Words> words;
  for (const auto& [id, of_family] : problems) {
    const FamilyInfo* info = find_family(run, id);
    words.emplace(id, Words(info == nullptr ? FamilyInfo{} : *info, {of_family.begin(), of_family.end()}));
  }
  return words;
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
    number += static_cast<std::size_t>(
        std::count_if(c.times.begin(), c.times.end(),
                      [&](const TimeComparison& time) { return time.speed_up.verdict == verdict; }));
  }
  return number;
}

const Words& words_of(const Comparison& comparison, const CaseComparison& c) {
  return comparison.words.at(family_of(c.key));
}

Comparison compare(const Run& a, const Run& b, const CompareOptions& options) {
  require_one_machine(a, b, options);
  Comparison comparison{.a = summary_of(a, options.name_a),
                        .b = summary_of(b, options.name_b),
                        .threshold = options.threshold,
                        .cases = {},
                        .words = words_of(a),
                        .only_in_a = {},
                        .only_in_b = {},
                        .notes = notes_on(a, b, options)};
  const std::map<CaseKey, const Case*> in_a = cases_by_key(a), in_b = cases_by_key(b);
  for (const Case& c : a.cases) {
    if (const auto other = in_b.find(c.key); other != in_b.end()) {
      comparison.cases.push_back(
          compare_case(c, *other->second, find_family(a, family_of(c.key)), options.threshold));
    } else {
      comparison.only_in_a.push_back(c.id);
    }
  }
  for (const Case& c : b.cases) {
    if (!in_a.contains(c.key)) comparison.only_in_b.push_back(c.id);
  }
  if (comparison.cases.empty()) {
    refuse({"they have no case in common"}, options, "Run the same variants and problems in both.");
  }
  return comparison;
}

}  // namespace mprof
