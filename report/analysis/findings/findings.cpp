// SPDX-License-Identifier: MIT
#include "report/analysis/findings/findings.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <boost/algorithm/string/classification.hpp>
#include <boost/algorithm/string/split.hpp>

#include "model/parts.hpp"
#include "model/rounds.hpp"
#include "model/statistics/median.hpp"
#include "report/analysis/analysis.hpp"
#include "report/analysis/judgement/verification.hpp"
#include "report/analysis/program/picture.hpp"

namespace mprof {
namespace {

using namespace finding;  // NOLINT(google-build-using-namespace)

/// Calls `visit(family, variant, case)`.
template <class Visit>
void for_each_case(const std::vector<FamilyResult>& families, Visit visit) {
  for (const FamilyResult& family : families) {
    for (const VariantResult& variant : family.variants) {
      for (const CaseResult& result : variant.cases) visit(family, variant, result);
    }
  }
}

/// Of equal observations of a family at several problems one finding, in the order of first appearance.
template <class Kind>
class Grouped {
 public:
  void add(const FamilyResult& family, const Problem& problem, Kind what) {
    for (auto& [known, where] : groups_) {
      if (where.family != &family || !(known == what)) continue;
      where.problems.push_back(problem);
      return;
    }
    groups_.push_back({std::move(what), {&family, {problem}}});
  }
  [[nodiscard]] std::size_t size() const { return groups_.size(); }
  /// As findings of that severity, to the end of `findings`.
  void move_to(std::vector<Finding>& findings, Severity severity) {
    for (auto& [what, where] : groups_) findings.push_back({severity, std::move(what), std::move(where)});
    groups_.clear();
  }

 private:
  std::vector<std::pair<Kind, Where>> groups_;
};

std::vector<FailedOp> failed_ops(const CaseResult& result) {
  std::vector<FailedOp> failed;
  for (const OpResult& op : result.ops) {
    if (op.verification && !op.verification->passed)
      failed.push_back({op.info.name, op.verification->finding});
  }
  return failed;
}

/// Where the outputs of a configuration were verified and are right.
std::vector<Problem> right_problems(const VariantResult& variant, const std::string& configuration) {
  std::vector<Problem> problems;
  for (const CaseResult& result : variant.cases) {
    const bool is_verified = std::ranges::any_of(
        result.ops, [](const OpResult& op) { return op.verification && op.verification->passed; });
    if (result.configuration == configuration && result.ok() && is_verified)
      problems.push_back(result.key.problem);
  }
  return problems;
}

void add_wrong_outputs(const std::vector<FamilyResult>& families, std::vector<Finding>& findings) {
  Grouped<WrongOutput> wrong;
  const auto add = [&](const FamilyResult& family, const VariantResult& variant, const CaseResult& result) {
    if (result.status != Status::wrong) return;
    wrong.add(family, result.key.problem,
              {result.configuration, failed_ops(result), result.reason,
               right_problems(variant, result.configuration)});
  };
  for_each_case(families, add);
  wrong.move_to(findings, Severity::wrong);
}

void add_suspect_times(const std::vector<FamilyResult>& families, std::vector<Finding>& findings) {
  Grouped<SuspectTimes> suspect;
  for_each_case(families, [&](const FamilyResult& family, const VariantResult&, const CaseResult& result) {
    if (result.status == Status::suspect)
      suspect.add(family, result.key.problem, {result.configuration, result.reason});
  });
  suspect.move_to(findings, Severity::wrong);
}

/// Whether a case of that status is missing from the results.
bool is_missing(Status status) {
  return status != Status::ok && status != Status::wrong && status != Status::suspect;
}

Severity severity_of(Status status) {
  return status == Status::failed || status == Status::crashed || status == Status::timeout
             ? Severity::broken
             : Severity::incomplete;
}

/// The configurations that were skipped, by reason: where there is no GPU, many for the same one.
using SkippedByReason = std::map<std::string, std::vector<std::string>>;

SkippedByReason skipped_by_reason(const std::vector<FamilyResult>& families) {
  SkippedByReason skipped;
  for_each_case(families, [&](const FamilyResult&, const VariantResult&, const CaseResult& result) {
    if (result.status != Status::skipped) return;
    std::vector<std::string>& configurations = skipped[result.reason];
    if (std::ranges::count(configurations, result.configuration) == 0) {
      configurations.push_back(result.configuration);
    }
  });
  return skipped;
}

bool are_of_one_variant(const std::vector<std::string>& configurations) {
  const auto variant_of = [](const std::string& configuration) {
    return configuration.substr(0, configuration.find('['));
  };
  return std::ranges::all_of(configurations, [&](const std::string& one) {
    return variant_of(one) == variant_of(configurations.front());
  });
}

/// Of what the program of a case that failed wrote, the last line that is not empty.
std::string last_line_of(const CaseResult& result) {
  const auto failed = std::ranges::find_if(result.source->passes, [](const PassResult& pass) {
    return severity_of(pass.status) == Severity::broken && pass.outcome;
  });
  if (failed == result.source->passes.end()) return "";
  std::vector<std::string> lines;
  boost::split(lines, failed->outcome->output, boost::is_any_of("\r\n"), boost::token_compress_on);
  const auto last = std::find_if(lines.rbegin(), lines.rend(), [](const std::string& line) {
    return line.find_first_not_of(" \t") != std::string::npos;
  });
  return last == lines.rend() ? "" : *last;
}

void add_missing_cases(const std::vector<FamilyResult>& families, std::vector<Finding>& findings) {
  const SkippedByReason skipped = skipped_by_reason(families);
  for (const Severity severity : {Severity::broken, Severity::incomplete}) {
    Grouped<MissingCase> missing;
    for_each_case(families, [&](const FamilyResult& family, const VariantResult&, const CaseResult& result) {
      if (!is_missing(result.status) || severity_of(result.status) != severity) return;
      if (result.status == Status::skipped && skipped.at(result.reason).size() > 1) return;  // below
      // That it was not reached is all there is to say of a pending case.
      missing.add(family, result.key.problem,
                  {result.configuration, result.status,
                   result.status == Status::pending ? std::string() : result.reason, last_line_of(result)});
    });
    missing.move_to(findings, severity);
  }
  for (const auto& [reason, configurations] : skipped) {
    if (configurations.size() < 2) continue;
    findings.push_back({Severity::incomplete, SkippedAlike{configurations.front(), configurations.size() - 1,
                                                           are_of_one_variant(configurations), reason}});
  }
}

void add_run_state(const Run& run, std::vector<Finding>& findings) {
  if (run.state == RunState::complete) return;
  const auto is_open = [](Status status) {
    return status == Status::pending || status == Status::interrupted;
  };
  // A case whose times are there may still wait for its counters.
  const auto open = std::ranges::count_if(run.cases, [&](const Case& c) {
    return is_open(case_status(c)) || std::ranges::any_of(c.passes, is_open, &PassResult::status);
  });
  findings.push_back(
      {Severity::incomplete, UnfinishedRun{run.state, static_cast<std::size_t>(open), run.cases.size()}});
}

void add_quality_losses(const std::vector<FamilyResult>& families, std::vector<Finding>& findings) {
  for_each_case(families, [&](const FamilyResult&, const VariantResult&, const CaseResult& result) {
    for (const QualityResult& quality : result.qualities) {
      if (quality.lost())
        findings.push_back(
            {Severity::wrong, LostQuality{quality.info, &result, quality.value->median, *quality.change}});
    }
  });
}

/// The problems at which the variant is, beyond doubt, slower in an op than its baseline.
std::vector<Problem> slower_at(const VariantResult& variant, const FamilyResult& family,
                               const std::string& op) {
  std::vector<Problem> problems;
  for (const Problem& problem : family.problems) {
    const CaseResult* result = variant.representative(problem);
    if (result == nullptr) continue;
    const bool slower = std::any_of(result->ops.begin(), result->ops.end(), [&](const OpResult& measured) {
      return measured.info.name == op && measured.speed_up.verdict == Verdict::slower;
    });
    if (slower) problems.push_back(problem);
  }
  return problems;
}

/// Slower than the variant it says it improves on: worth a sentence, since a table of numbers hides it.
void add_slow_downs(const std::vector<FamilyResult>& families, std::vector<Finding>& findings) {
  for (const FamilyResult& family : families) {
    for (const OpInfo& op : family.ops) {
      SlowerThanBaseline slow{&family, op.name, {}};
      for (const VariantResult& variant : family.variants) {
        std::vector<Problem> problems = slower_at(variant, family, op.name);
        if (!problems.empty()) slow.variants.push_back({variant.info.id, std::move(problems)});
      }
      if (slow.variants.empty()) continue;
      findings.push_back({Severity::caution, std::move(slow), {}, true});
    }
  }
}

/// Why the op times of a variant say little.
OpTimeFlaw flaw_of(const VariantResult& variant) {
  for (const CaseResult& result : variant.cases) {
    for (const OpResult& op : result.ops) {
      if (op.flaw != OpTimeFlaw::none) return op.flaw;
    }
  }
  return OpTimeFlaw::none;
}

/// Variants of one flaw are named together.
void add_flawed_op_times(const std::vector<FamilyResult>& families, std::vector<Finding>& findings) {
  for (const FamilyResult& family : families) {
    std::map<OpTimeFlaw, std::vector<std::string>> flawed;
    for (const VariantResult& variant : family.variants) {
      if (const OpTimeFlaw flaw = flaw_of(variant); flaw != OpTimeFlaw::none)
        flawed[flaw].push_back(variant.info.id);
    }
    for (auto& [flaw, variants] : flawed)
      findings.push_back({Severity::caution, FlawedOpTimes{&family, flaw, std::move(variants)}});
  }
}

void add_width(ClockNoise& noise, const CaseResult& result, const Value& time) {
  const auto width = time ? relative_half_width(*time) : std::nullopt;
  if (!width) return;
  noise.widths.push_back(*width);
  if (*width <= noise.widest) return;
  noise.widest = *width;
  noise.widest_case = result.id;
}

/// How wide the intervals of a run of several rounds are, for each clock: intervals of host times are often
/// wide in all cases, intervals of device times in hardly any.
void add_noise_between_runs(const Run& run, const std::vector<FamilyResult>& families,
                            std::vector<Finding>& findings) {
  NoiseBetweenRuns noise;
  for_each_case(families, [&](const FamilyResult& family, const VariantResult&, const CaseResult& result) {
    const auto add = [&](const Value& time) {
      if (!time || !time->interval) return;
      add_width(time->clock == ClockSource::device ? noise.device : noise.host, result, time);
    };
    for (const OpResult& op : result.ops) {
      if (op.flaw == OpTimeFlaw::none) add(op.op_time);  // add_flawed_op_times() has the others
    }
    if (family.words.has_group()) {
      for (const OpResult& op : result.ops) add(op.group_time);
    }
    add(result.total_time);
  });
  if (std::max(noise.device.widest, noise.host.widest) <= run.plan.stopping.relative_half_width) return;
  findings.push_back({Severity::caution, std::move(noise)});
}

/// Intervals wider than the run's own target: of one round those of its medians, of several those of the next
/// run.
void add_noise(const Run& run, const std::vector<FamilyResult>& families, std::vector<Finding>& findings) {
  if (most_rounds_of(run) > 1) {
    add_noise_between_runs(run, families, findings);
    return;
  }
  ImpreciseMedians imprecise{.target = run.plan.stopping.relative_half_width};
  for_each_case(families, [&](const FamilyResult&, const VariantResult&, const CaseResult& result) {
    if (!result.sampling) return;
    const auto width = result.sampling->relative_half_width;
    if (!width) return;
    ++imprecise.measured;
    if (*width <= imprecise.target) return;
    ++imprecise.cases;
    if (*width > imprecise.widest) {
      imprecise.widest = *width;
      imprecise.widest_case = result.id;
    }
  });
  if (imprecise.cases > 0) findings.push_back({Severity::caution, std::move(imprecise)});
}

/// Healthy GPUs of one model differ, so that rounds of several are not those of one.
void add_pooled_gpus(const Run& run, std::vector<Finding>& findings) {
  const std::size_t gpus = most_gpus_of_a_case(run);
  if (gpus > 1) findings.push_back({Severity::caution, PooledGpus{gpus}});
}

/// Cases that several GPUs of one model share: all variants of a problem on one, or not even that.
void add_divided_cases(const Run& run, const std::vector<FamilyResult>& families,
                       std::vector<Finding>& findings) {
  if (run.parts.size() < 2 || most_gpus_of_a_case(run) > 1 || gpu_models(run).size() > 1) return;
  const PartIndex parts(run);
  std::map<std::pair<std::string, Problem>, std::set<std::string>> by_problem;
  std::set<std::string> all;
  for_each_case(families, [&](const FamilyResult& family, const VariantResult&, const CaseResult& result) {
    const std::string gpu = parts.gpu_uuid(result.id);
    if (gpu.empty()) return;
    by_problem[{family.id, result.key.problem}].insert(gpu);
    all.insert(gpu);
  });
  if (all.size() < 2) return;
  const bool by_case =
      std::ranges::any_of(by_problem, [](const auto& problem) { return problem.second.size() > 1; });
  findings.push_back({Severity::caution, DividedCases{all.size(), by_case}});
}

/// Of many comparisons at 95 %, some tell a difference where there is none. Device times differ by so much
/// more than they vary that this hardly matters; the host's do not.
void add_chance(const std::vector<FamilyResult>& families, std::vector<Finding>& findings) {
  constexpr std::size_t many = 20;  // one of them is expected to be wrong
  ChanceVerdicts chance;
  const auto count = [&](const SpeedUp& one) {
    if (!one) return;
    ++chance.comparisons;
    if (is_change(one.verdict)) ++chance.told;
  };
  for_each_case(families, [&](const FamilyResult&, const VariantResult&, const CaseResult& result) {
    count(result.total_speed_up);
    for (const OpResult& op : result.ops) {
      if (op.compared_by == "group_time") count(op.speed_up);
    }
  });
  if (chance.comparisons < many || chance.told == 0) return;
  chance.by_chance = (chance.comparisons + many / 2) / many;
  findings.push_back({Severity::caution, chance});
}

/// Cases that were disturbed alike.
struct DisturbedAlike {
  Grouped<DisturbedCase> one_by_one{};
  std::size_t count = 0;
  std::map<std::string, std::size_t> causes{};  ///< and of how many
};

DisturbedCases taken_together(DisturbedPart part, const DisturbedAlike& alike, std::size_t timed) {
  DisturbedCases all{part, alike.count, timed, {}};
  for (const auto& [cause, cases] : alike.causes) all.causes.push_back({cause, cases});
  std::ranges::stable_sort(all.causes, std::greater<>(), &DisturbedCases::Cause::cases);
  return all;
}

void add_disturbances(const std::vector<FamilyResult>& families, std::vector<Finding>& findings) {
  constexpr std::size_t most_sentences = 3;
  std::map<DisturbedPart, DisturbedAlike> disturbed;
  std::size_t timed = 0;
  for_each_case(families, [&](const FamilyResult& family, const VariantResult&, const CaseResult& result) {
    if (!result.sampling) return;
    ++timed;
    const Sampling& sampling = *result.sampling;
    const Disturbances by =
        disturbances_in(sampling.disturbance.empty() ? sampling.host_disturbance : sampling.disturbance);
    if (by.empty() && sampling.retries == 0) return;
    const DisturbedPart part = !sampling.disturbance.empty() ? DisturbedPart::all
                               : !by.empty()                 ? DisturbedPart::host_alone
                                                             : DisturbedPart::no_more;
    DisturbedAlike& alike = disturbed[part];
    ++alike.count;
    std::set<std::string> causes;
    for (const Disturbance& one : by) causes.insert(one.cause);
    for (const std::string& cause : causes) ++alike.causes[cause];
    alike.one_by_one.add(family, result.key.problem, {result.configuration, part, by, sampling.retries});
  });
  for (auto& [part, alike] : disturbed) {
    if (alike.one_by_one.size() <= most_sentences) {
      alike.one_by_one.move_to(findings, Severity::caution);
      continue;
    }
    Finding all{Severity::caution, taken_together(part, alike, timed)};
    alike.one_by_one.move_to(all.details, Severity::caution);
    findings.push_back(std::move(all));
  }
}

bool is_busy(const PassResult* pass) {
  return pass != nullptr && pass->sampling && !pass->sampling->host_disturbance.empty();
}

/// Copies, calls and waits in such traces are those of a busy host.
void add_busy_traces(const Run& run, std::vector<Finding>& findings) {
  BusyTraces traces;
  for (const Case& c : run.cases) {
    const PassResult* const trace = find_pass(c, Pass::trace);
    if (trace == nullptr || trace->status != Status::ok) continue;
    ++traces.traced;
    if (is_busy(trace)) ++traces.busy;
  }
  if (traces.busy > 0) findings.push_back({Severity::caution, traces});
}

/// One process does not tell how the next one will differ.
void add_one_round(const Run& run, const std::vector<FamilyResult>& families,
                   std::vector<Finding>& findings) {
  if (most_rounds_of(run) > 1) return;
  bool timed = false;
  for_each_case(families, [&](const FamilyResult&, const VariantResult&, const CaseResult& result) {
    timed = timed || result.total_time;
  });
  if (!timed) return;
  const bool beside_gpu = is_beside_gpu(run);
  findings.push_back(
      {Severity::caution, OneRound{assumed_deviation(ClockSource::host, beside_gpu), beside_gpu}});
}

/// Of a search itself, not of the best points that it measured again.
void add_search(const Run& run, std::vector<Finding>& findings) {
  const bool is_of_tune = run.command_line.size() > 1 && run.command_line[1] == "tune";
  const bool any_of_one_round = std::ranges::any_of(run.cases, [](const Case& c) {
    return std::ranges::any_of(
        c.passes, [](const PassResult& pass) { return pass.pass == Pass::timing && rounds_of(pass) < 2; });
  });
  if (is_of_tune && any_of_one_round) findings.push_back({Severity::caution, SearchPoints{}});
}

void add_without_timing(const Run& run, std::vector<Finding>& findings) {
  const bool planned = std::ranges::count(run.plan.passes, Pass::timing) > 0;
  if (planned || run.cases.empty()) return;
  const bool imported = !run.variants.empty() && std::ranges::all_of(run.variants, &VariantInfo::is_imported);
  findings.push_back({Severity::incomplete, WithoutTiming{imported}});
}

/// Of what a user puts behind `--` nobody asked whether it is right; a suite's programs have a way to say so.
void add_unverified_programs(const Run& run, std::vector<Finding>& findings) {
  if (run.variants.size() == 1 && run.variants.front().family == own_family) return;
  UnverifiedPrograms unverified;
  std::size_t programs = 0;
  for (const VariantInfo& variant : run.variants) {
    if (!variant.is_program()) continue;
    ++programs;
    const auto was_not = [&](const Case& c) { return c.key.variant == variant.id && verified_by(c).empty(); };
    if (std::ranges::any_of(run.cases, was_not)) unverified.programs.push_back(variant.id);
  }
  if (unverified.programs.empty()) return;
  unverified.all = unverified.programs.size() == programs;
  findings.push_back({Severity::incomplete, std::move(unverified)});
}

/// Numbers that somebody else answers for.
void add_slow_first(const Run& run, std::vector<Finding>& findings) {
  constexpr double several = 3;
  constexpr std::size_t fewest = 4;
  for (const Case& c : run.cases) {
    const Measurement* const row = find_measurement(c, "total_time", "");
    const VariantInfo* const variant = find_variant(run, c.key.variant);
    if (variant == nullptr || !variant->is_program() || row == nullptr) continue;
    if (row->samples.size() < fewest) continue;
    const double first = row->samples.front();
    std::vector<double> others(row->samples.begin() + 1, row->samples.end());
    if (first < several * *std::ranges::max_element(others)) continue;
    findings.push_back({Severity::caution, SlowFirst{c.id, first, median(others)}});
  }
}

void add_printed_numbers(const Run& run, std::vector<Finding>& findings) {
  for (const FamilyInfo& family : run.families) {
    PrintedNumbers printed{family.id, {}};
    for (const Case& c : run.cases) {
      if (family_of(c.key.variant) != family.id) continue;
      for (const PassResult& pass : c.passes) {
        for (const Measurement& row : pass.measurements) {
          if (row.source != Source::printed) continue;
          const QualityInfo* const quality = find_quality(family, row.metric);
          const std::string& label = quality != nullptr           ? quality->label
                                     : row.metric == "group_time" ? family.nouns.group_time_title
                                                                  : family.nouns.op_time_title;
          if (std::ranges::find(printed.labels, label) == printed.labels.end())
            printed.labels.push_back(label);
        }
      }
    }
    if (!printed.labels.empty()) findings.push_back({Severity::caution, std::move(printed)});
  }
}

/// What is not known of programs that were run as they are.
void add_programs(const Run& run, std::vector<Finding>& findings) {
  add_unverified_programs(run, findings);
  add_printed_numbers(run, findings);
  add_slow_first(run, findings);
  // What several cases have in common is said once.
  std::vector<ProgramNote> notes;
  for (const Case& c : run.cases) {
    for (const PassResult& pass : c.passes) {
      if (!pass.outcome || pass.status == Status::skipped) continue;
      for (const std::string& note : pass.outcome->notes) {
        auto known = std::ranges::find_if(
            notes, [&](const ProgramNote& one) { return one.pass == pass.pass && one.note == note; });
        if (known == notes.end()) known = notes.insert(known, {{}, pass.pass, note});
        known->cases.push_back(c.id);
      }
    }
  }
  for (ProgramNote& note : notes) findings.push_back({Severity::caution, std::move(note)});
}

void add_missing_ceilings(const Run& run, std::vector<Finding>& findings) {
  for (const Ceiling& ceiling : run.ceilings) {
    if (!ceiling.value && !ceiling.method.empty())
      findings.push_back({Severity::incomplete, MissingCeiling{&ceiling}});
  }
}

/// Times of two models are times of two machines.
void add_gpu_models(const Run& run, std::vector<Finding>& findings) {
  std::vector<std::string> models = gpu_models(run);
  if (models.size() > 1) findings.push_back({Severity::caution, SeveralGpuModels{std::move(models)}});
}

/// What the report was told to leave out may be faster than anything that it shows.
void add_left_out(const std::vector<FamilyResult>& families, std::vector<Finding>& findings) {
  for (const FamilyResult& family : families) {
    if (family.measured > family.variants.size()) findings.push_back({Severity::caution, LeftOut{&family}});
  }
}

void add_dirty_tree(const Run& run, std::vector<Finding>& findings) {
  if (run.tool.revision.ends_with("-dirty")) findings.push_back({Severity::caution, UncommittedChanges{}});
}

}  // namespace

std::vector<Finding> find_what_to_know(const Run& run, const std::vector<FamilyResult>& families) {
  std::vector<Finding> findings;
  if (run.cases.empty()) findings.push_back({Severity::incomplete, EmptyRun{}});
  add_wrong_outputs(families, findings);
  add_suspect_times(families, findings);
  add_quality_losses(families, findings);
  add_sanitizer_findings(families, findings);
  add_missing_cases(families, findings);
  add_run_state(run, findings);
  add_without_timing(run, findings);
  add_programs(run, findings);
  add_missing_ceilings(run, findings);
  add_gpu_models(run, findings);
  add_pooled_gpus(run, findings);
  add_divided_cases(run, families, findings);
  add_left_out(families, findings);
  add_search(run, findings);
  add_one_round(run, families, findings);
  add_noise(run, families, findings);
  add_disturbances(families, findings);
  add_busy_traces(run, findings);
  add_slow_downs(families, findings);
  add_flawed_op_times(families, findings);
  add_series_findings(families, findings);
  add_chance(families, findings);
  add_dirty_tree(run, findings);
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.severity < b.severity; });
  return findings;
}

}  // namespace mprof
