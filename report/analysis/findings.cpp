#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "model/parts.hpp"
#include "model/rounds.hpp"
#include "model/statistics/median.hpp"
#include "report/analysis/analysis.hpp"
#include "report/analysis/series_findings.hpp"
#include "report/analysis/verification.hpp"
#include "report/text/format.hpp"

/// Findings: what a reader must know before using the numbers, in plain words.
namespace mprof {
namespace {

/// Calls `visit(family, variant, case)`.
template <class Visit>
void for_each_case(const std::vector<FamilyResult>& families, Visit visit) {
  for (const FamilyResult& family : families) {
    for (const VariantResult& variant : family.variants) {
      for (const CaseResult& result : variant.cases) visit(family, variant, result);
    }
  }
}

std::string sentence(std::string_view text) {
  std::string line = format::one_line(text);
  if (!line.empty() && line.back() != '.' && line.back() != '!' && line.back() != '?') line += '.';
  return line;
}

/// Collects the problems at which the same thing is to be said, in the order of first appearance.
class Grouped {
 public:
  void add(const FamilyResult& family, const std::string& text, const Problem& problem) {
    const auto [place, is_new] = places_.emplace(std::pair{&family, text}, groups_.size());
    if (is_new) groups_.push_back({&family, text, {}});
    groups_[place->second].problems.push_back(problem);
  }
  /// The texts, with the placeholder in them replaced by "at size 100" or "at sizes 100 and 1000".
  [[nodiscard]] std::vector<std::string> sentences() const {
    std::vector<std::string> result;
    for (const auto& [family, text, problems] : groups_) {
      const std::size_t place = text.find(placeholder);
      result.push_back(text.substr(0, place) + family->words.at(problems) +
                       text.substr(place + placeholder.size()));
    }
    return result;
  }
  /// No text from outside holds it: control characters are replaced before.
  static constexpr std::string_view placeholder = "\x01";

 private:
  struct Group {
    const FamilyResult* family;
    std::string text;
    std::vector<Problem> problems;
  };
  std::vector<Group> groups_;
  std::map<std::pair<const FamilyResult*, std::string>, std::size_t> places_;
};

std::string why_wrong(const CaseResult& result) {
  std::string why;
  for (const OpResult& op : result.ops) {
    if (!op.verification || op.verification->passed) continue;
    why += fmt::format(" {}: {}", format::short_id(op.info.name), sentence(op.verification->finding));
  }
  if (why.empty() && !result.reason.empty()) why = fmt::format(" {}", sentence(result.reason));
  return why;
}

void add_wrong_outputs(const std::vector<FamilyResult>& families, std::vector<Finding>& findings) {
  Grouped wrong;
  for_each_case(families, [&](const FamilyResult& family, const VariantResult&, const CaseResult& result) {
    if (result.status != Status::wrong) return;
    wrong.add(family,
              fmt::format("The output of {} is wrong {}, so none of its times there counts as a speed-up.{}",
                          format::short_id(result.configuration), Grouped::placeholder, why_wrong(result)),
              result.key.problem);
  });
  for (const std::string& text : wrong.sentences()) findings.push_back({Severity::wrong, text});
}

void add_suspect_times(const std::vector<FamilyResult>& families, std::vector<Finding>& findings) {
  Grouped suspect;
  for_each_case(families, [&](const FamilyResult& family, const VariantResult&, const CaseResult& result) {
    if (result.status != Status::suspect) return;
    suspect.add(
        family,
        fmt::format("The times of {} are suspect {}, so none of them counts as a speed-up: {}",
                    format::short_id(result.configuration), Grouped::placeholder, sentence(result.reason)),
        result.key.problem);
  });
  for (const std::string& text : suspect.sentences()) findings.push_back({Severity::wrong, text});
}

std::string_view what_happened(Status status) {
  switch (status) {
    case Status::skipped:
      return "was skipped";
    case Status::failed:
      return "failed";
    case Status::crashed:
      return "crashed";
    case Status::timeout:
      return "ran out of time";
    case Status::interrupted:
      return "was interrupted";
    case Status::pending:
      return "was not reached";
    case Status::ok:
    case Status::wrong:
    case Status::suspect:
      break;
  }
  return "";
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

void add_missing_cases(const std::vector<FamilyResult>& families, std::vector<Finding>& findings) {
  const SkippedByReason skipped = skipped_by_reason(families);
  for (const Severity severity : {Severity::broken, Severity::incomplete}) {
    Grouped missing;
    for_each_case(families, [&](const FamilyResult& family, const VariantResult&, const CaseResult& result) {
      const std::string_view what = what_happened(result.status);
      if (what.empty() || severity_of(result.status) != severity) return;
      if (result.status == Status::skipped && skipped.at(result.reason).size() > 1) return;  // below
      // That it was not reached is all there is to say of a pending case.
      const bool silent = result.reason.empty() || result.status == Status::pending;
      missing.add(family,
                  fmt::format("{} {} {}{}", format::short_id(result.configuration), what,
                              Grouped::placeholder, silent ? "." : ": " + sentence(result.reason)),
                  result.key.problem);
    });
    for (const std::string& text : missing.sentences()) findings.push_back({severity, text});
  }
  for (const auto& [reason, configurations] : skipped) {
    if (configurations.size() < 2) continue;
    findings.push_back(
        {Severity::incomplete,
         fmt::format("{} and {} were skipped: {}", format::short_id(configurations.front()),
                     format::plural(configurations.size() - 1,
                                    are_of_one_variant(configurations) ? "other point" : "other variant"),
                     sentence(reason))});
  }
}

void add_run_state(const Run& run, std::vector<Finding>& findings) {
  if (run.state == RunState::complete) return;
  const auto is_open = [](Status status) {
    return status == Status::pending || status == Status::interrupted;
  };
  // A case whose times are there may still wait for its counters.
  const auto open = std::count_if(run.cases.begin(), run.cases.end(), [&](const Case& c) {
    return is_open(case_status(c)) ||
           std::any_of(c.passes.begin(), c.passes.end(),
                       [&](const PassResult& pass) { return is_open(pass.status); });
  });
  const std::string_view what = run.state == RunState::interrupted
                                    ? "The run was interrupted"
                                    : "The run has not finished, or was ended before it could say so";
  findings.push_back(
      {Severity::incomplete, fmt::format("{}: {} of {} still to do. mprof run --resume does them.", what,
                                         open, format::plural(run.cases.size(), "case"))});
}

void add_quality_losses(const std::vector<FamilyResult>& families, std::vector<Finding>& findings) {
  for_each_case(families, [&](const FamilyResult&, const VariantResult&, const CaseResult& result) {
    for (const QualityResult& quality : result.qualities) {
      if (!quality.lost()) continue;
      const Unit unit = quality.info->unit;
      findings.push_back(
          {Severity::wrong,
           fmt::format("The {} of {} is {}, {} against its baseline {}.", quality_word(*quality.info),
                       format::short_id(result.id), format::quality(quality.value->median, unit),
                       format::signed_quality(*quality.change, unit), format::short_id(result.baseline))});
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
      std::vector<std::string> slow;
      for (const VariantResult& variant : family.variants) {
        const std::vector<Problem> problems = slower_at(variant, family, op.name);
        if (problems.empty()) continue;
        const bool always = problems.size() > 1 && problems.size() == family.problems.size();
        slow.push_back(fmt::format("{} ({})", format::short_id(variant.info.id),
                                   always ? "at " + family.words.every() : family.words.at(problems)));
      }
      if (slow.empty()) continue;
      findings.push_back({Severity::caution,
                          fmt::format("Slower than its own baseline in {}: {}.", format::short_id(op.name),
                                      format::list(slow)),
                          true});
    }
  }
}

/// Why the op times of a variant say little, as a predicate; empty when they do not.
std::string_view flaw_of(const VariantResult& variant) {
  for (const CaseResult& result : variant.cases) {
    for (const OpResult& op : result.ops) {
      if (!op.flaw.empty()) return op.flaw;
    }
  }
  return {};
}

/// Variants of one flaw are named together.
void add_flawed_op_times(const std::vector<FamilyResult>& families, std::vector<Finding>& findings) {
  for (const FamilyResult& family : families) {
    std::map<std::string_view, std::vector<std::string>> flawed;
    for (const VariantResult& variant : family.variants) {
      if (const std::string_view flaw = flaw_of(variant); !flaw.empty())
        flawed[flaw].push_back(format::short_id(variant.info.id));
    }
    for (const auto& [flaw, names] : flawed) {
      const std::string compared_by = family.words.time("group_time");
      findings.push_back(
          {Severity::caution,
           names.size() == 1
               ? fmt::format("{} {}, so its op time says little: it is compared by {}.", names.front(), flaw,
                             compared_by)
               : fmt::format("Of {} each {}, so their op times say little: they are compared by {}.",
                             format::list(names), flaw, compared_by)});
    }
  }
}

/// How far from its times the next run's may lie, of those that one clock took.
struct ClockNoise {
  std::vector<double> widths{};
  double widest = 0;
  double step = 0;  ///< of a GPU's clock, which they hold
  std::string where{};
  std::vector<std::string> times{};  ///< what they are called

  void add(const CaseResult& result, const Value& time, const std::string& name) {
    const auto width = time ? relative_half_width(*time) : std::nullopt;
    if (!width) return;
    widths.push_back(*width);
    step = std::max(step, time->sm_clock.step);
    if (std::ranges::find(times, name) == times.end()) times.push_back(name);
    if (*width <= widest) return;
    widest = *width;
    where = format::short_id(result.id);
  }

  /// "±0.60 % by the GPU's clock (op time; the most: ±2.1 %, map/tiled@100)"
  [[nodiscard]] std::string text(std::string_view clock) const {
    const std::string of_step =
        step > 0 ? fmt::format(", of which {} are for a step of the SM clock", format::percent(step)) : "";
    const std::string typical = format::plus_minus(median(widths)), most = format::plus_minus(widest);
    const std::string and_most = most == typical ? "" : fmt::format("; the most: {}, {}", most, where);
    return fmt::format("{} by the {}'s clock{} ({}{})", typical, clock, of_step, format::list(times),
                       and_most);
  }
};

/// How wide the intervals of a run of several rounds are, told apart by the clock: those of the host are
/// often wide in all cases, those of the GPU's in hardly any.
void add_noise_between_runs(const Run& run, const std::vector<FamilyResult>& families,
                            std::vector<Finding>& findings) {
  ClockNoise device, host;
  bool has_flawed = false;
  std::size_t fewest = std::numeric_limits<std::size_t>::max(), most = 0;
  for_each_case(families, [&](const FamilyResult& family, const VariantResult& variant,
                              const CaseResult& result) {
    const auto add = [&](const Value& time, std::string_view metric) {
      if (!time || !time->interval) return;
      fewest = std::min(fewest, time->rounds);
      most = std::max(most, time->rounds);
      const bool is_of_gpu = time->clock == ClockSource::device;
      // Of a GPU's op the host may have a part in the time, though it is not its clock that took it.
      const bool is_shared = !is_of_gpu && metric == "op_time" && variant.info.device != "cpu";
      (is_of_gpu ? device : host)
          .add(result, time, family.words.time(metric) + (is_shared ? " that the host has a part in" : ""));
    };
    for (const OpResult& op : result.ops) {
      if (op.flaw.empty()) add(op.op_time, "op_time");  // of others add_flawed_op_times() tells
      has_flawed = has_flawed || !op.flaw.empty();
    }
    if (family.words.has_group()) {
      for (const OpResult& op : result.ops) add(op.group_time, "group_time");
    }
    add(result.total_time, "total_time");
  });
  if (std::max(device.widest, host.widest) <= run.plan.stopping.relative_half_width) return;
  std::vector<std::string> parts;
  if (has_flawed && !device.times.empty()) device.times.front() += " where it is compared";
  if (!device.widths.empty()) parts.push_back(device.text("GPU"));
  if (!host.widths.empty()) parts.push_back(host.text("host"));
  findings.push_back(
      {Severity::caution,
       fmt::format(
           "By its {} rounds the next run's times may typically differ from these by {}. Between runs, "
           "smaller differences mean nothing.",
           fewest == most ? format::count(most) : fmt::format("{}–{}", fewest, most), format::list(parts))});
}

/// Intervals wider than the run's own target: of one round those of its medians, of several those of the next
/// run.
void add_noise(const Run& run, const std::vector<FamilyResult>& families, std::vector<Finding>& findings) {
  if (most_rounds_of(run) > 1) {
    add_noise_between_runs(run, families, findings);
    return;
  }
  const double target = run.plan.stopping.relative_half_width;
  std::size_t noisy = 0, measured = 0;
  double widest = 0;
  std::string where;
  for_each_case(families, [&](const FamilyResult&, const VariantResult&, const CaseResult& result) {
    if (!result.sampling) return;
    const auto width = result.sampling->relative_half_width;
    if (!width) return;
    ++measured;
    if (*width <= target) return;
    ++noisy;
    if (*width > widest) {
      widest = *width;
      where = format::short_id(result.id);
    }
  });
  if (noisy == 0) return;
  findings.push_back(
      {Severity::caution,
       fmt::format("In {} of {} a process knows a median less well than to the {} asked for (at worst to {}, "
                   "{}). The ± of tables covers other runs too, and is larger.",
                   noisy, format::plural(measured, "case"), format::plus_minus(target),
                   format::plus_minus(widest), where)});
}

/// Healthy GPUs of one model differ, so that rounds of several are not those of one.
void add_pooled_gpus(const Run& run, std::vector<Finding>& findings) {
  const std::size_t gpus = most_gpus_of_a_case(run);
  if (gpus < 2) return;
  findings.push_back(
      {Severity::caution,
       fmt::format("The rounds of {} GPUs were pooled: how much a time varies is also how much they differ. "
                   "mprof fleet, given the runs that were merged, tells which of them is slow.",
                   format::count(gpus))});
}

/// Likewise of cases that several GPUs of one model share: all variants of a problem on one, or not even
/// that.
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
  findings.push_back(
      {Severity::caution,
       fmt::format(
           "{} also differ as these GPUs do, and healthy ones of one model may by several percent{}.",
           by_case ? fmt::format("Variants of one problem were measured on several of {} GPUs: their times",
                                 format::count(all.size()))
                   : fmt::format("The problems were divided among {} GPUs, all variants of one on the "
                                 "same: times of different problems",
                                 format::count(all.size())),
           by_case ? ": between two of them no change of up to 8\u00a0% has a verdict" : "")});
}

/// Of many comparisons at 95 %, some tell a difference where there is none. Device times differ by so much
/// more than they vary that this hardly matters; the host's do not.
void add_chance(const std::vector<FamilyResult>& families, std::vector<Finding>& findings) {
  constexpr std::size_t many = 20;  // one of them is expected to be wrong
  std::size_t comparisons = 0, told = 0;
  const auto count = [&](const SpeedUp& one) {
    if (!one) return;
    ++comparisons;
    if (is_change(one.verdict)) ++told;
  };
  for_each_case(families, [&](const FamilyResult&, const VariantResult&, const CaseResult& result) {
    count(result.total_speed_up);
    for (const OpResult& op : result.ops) {
      if (op.compared_by == "group_time") count(op.speed_up);
    }
  });
  if (comparisons < many || told == 0) return;
  findings.push_back({Severity::caution, fmt::format("{} times by the host's clock are compared, each at 95 "
                                                     "%, and {} of them told apart. If none differed, "
                                                     "about {} would be, by chance.",
                                                     comparisons, told, (comparisons + many / 2) / many)});
}

std::string times_word(std::uint32_t times) {
  return times == 1 ? "once" : times == 2 ? "twice" : fmt::format("{} times", times);
}

/// How far a case was disturbed.
enum class Disturbed { all, host_alone, no_more };

/// Cases that were disturbed alike.
struct DisturbedCases {
  Grouped one_by_one{};
  std::size_t count = 0;
  std::map<std::string, std::size_t> causes{};  ///< and of how many
};

/// What the runner knows of samples that were not taken in peace, and of those that it threw away for that.
std::string disturbance_text(const std::string& id, const Sampling& sampling, Disturbed how) {
  if (how == Disturbed::no_more)
    return fmt::format("The samples of {} {} were disturbed and taken again {}; those kept were not.", id,
                       Grouped::placeholder, times_word(sampling.retries));
  const bool by_host_alone = how == Disturbed::host_alone;
  const std::string again =
      sampling.retries > 0 ? fmt::format(" though they were taken again {}", times_word(sampling.retries))
                           : "";
  return fmt::format("The {} of {} {} were disturbed{}: {} No verdict hangs on {}.",
                     by_host_alone ? "host times" : "samples", id, Grouped::placeholder, again,
                     sentence(by_host_alone ? sampling.host_disturbance : sampling.disturbance),
                     by_host_alone ? "them" : "its times");
}

/// Of many cases at once, which on a machine that is never quiet differ by a little more or less.
std::string disturbances_text(Disturbed how, const DisturbedCases& cases, std::size_t timed) {
  const std::string of_all = fmt::format("{} of {}", cases.count, format::plural(timed, "case"));
  if (how == Disturbed::no_more)
    return fmt::format("The samples of {} were disturbed and taken again; those kept were not.", of_all);
  std::vector<std::pair<std::string, std::size_t>> causes(cases.causes.begin(), cases.causes.end());
  std::ranges::stable_sort(causes, std::greater<>(), [](const auto& cause) { return cause.second; });
  std::vector<std::string> texts;
  for (const auto& [cause, count] : causes)
    texts.push_back(count == cases.count ? cause : fmt::format("{} ({} of them)", cause, count));
  return fmt::format("The {} of {} were disturbed: {}. No verdict hangs on them.",
                     how == Disturbed::all ? "times" : "host times", of_all, format::list(texts));
}

void add_disturbances(const std::vector<FamilyResult>& families, std::vector<Finding>& findings) {
  constexpr std::size_t most_sentences = 3;
  std::map<Disturbed, DisturbedCases> disturbed;
  std::size_t timed = 0;
  for_each_case(families, [&](const FamilyResult& family, const VariantResult&, const CaseResult& result) {
    if (!result.sampling) return;
    ++timed;
    const Sampling& sampling = *result.sampling;
    const std::string& reason =
        sampling.disturbance.empty() ? sampling.host_disturbance : sampling.disturbance;
    if (reason.empty() && sampling.retries == 0) return;
    const Disturbed how = !sampling.disturbance.empty() ? Disturbed::all
                          : !reason.empty()             ? Disturbed::host_alone
                                                        : Disturbed::no_more;
    DisturbedCases& alike = disturbed[how];
    ++alike.count;
    for (const std::string& cause : format::cause_list(reason)) ++alike.causes[cause];
    alike.one_by_one.add(family, disturbance_text(format::short_id(result.configuration), sampling, how),
                         result.key.problem);
  });
  for (const auto& [how, cases] : disturbed) {
    const std::vector<std::string> sentences = cases.one_by_one.sentences();
    if (sentences.size() > most_sentences) {
      findings.push_back({Severity::caution, disturbances_text(how, cases, timed), false, sentences});
      continue;
    }
    for (const std::string& text : sentences) findings.push_back({Severity::caution, text});
  }
}

bool is_busy(const PassResult* pass) {
  return pass != nullptr && pass->sampling && !pass->sampling->host_disturbance.empty();
}

void add_busy_traces(const Run& run, std::vector<Finding>& findings) {
  std::size_t traced = 0, busy = 0;
  for (const Case& c : run.cases) {
    const PassResult* const trace = find_pass(c, Pass::trace);
    if (trace == nullptr || trace->status != Status::ok) continue;
    ++traced;
    if (is_busy(trace)) ++busy;
  }
  if (busy == 0) return;
  findings.push_back(
      {Severity::caution,
       fmt::format(
           "The traces of {} of {} were taken while other devices of the host were at work: copies, calls "
           "and waits in them are those of a busy host, and so are what the report says to bound a whole and "
           "the gains it expects of them. Op times and counters are not.",
           busy, format::plural(traced, "case"))});
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
      {Severity::caution,
       fmt::format(
           "Each case was timed in one process (one round), which cannot tell how the next one will "
           "differ: the intervals assume {:g} % for times of the host's clock{}. --rounds 5 measures it.",
           100 * assumed_deviation(ClockSource::host, beside_gpu),
           beside_gpu ? " and 0.3 % for those of a GPU's, as seen on H200 in virtual machines" : "")});
}

/// Of a search itself, not of the best points that it measured again.
void add_search(const Run& run, std::vector<Finding>& findings) {
  const bool is_of_tune = run.command_line.size() > 1 && run.command_line[1] == "tune";
  const bool any_of_one_round = std::ranges::any_of(run.cases, [](const Case& c) {
    return std::ranges::any_of(
        c.passes, [](const PassResult& pass) { return pass.pass == Pass::timing && rounds_of(pass) < 2; });
  });
  if (!is_of_tune || !any_of_one_round) return;
  findings.push_back({Severity::caution,
                      "These are the points of a search, and a lowest time among many is part luck. What "
                      "`mprof tune` keeps is told by the best of them, which it measures again at the end: "
                      "their record is then in finals, beside this one's."});
}

void add_without_timing(const Run& run, std::vector<Finding>& findings) {
  const bool planned =
      std::find(run.plan.passes.begin(), run.plan.passes.end(), Pass::timing) != run.plan.passes.end();
  if (planned || run.cases.empty()) return;
  if (!run.variants.empty() && std::ranges::all_of(run.variants, &VariantInfo::is_imported)) {
    findings.push_back(
        {Severity::incomplete,
         "The run was made of files of other tools: no time without a profiler is known, no other execution "
         "to compare with (there are no rounds), and no output was verified."});
    return;
  }
  findings.push_back({Severity::incomplete,
                      "The plan had no timing pass: the run holds no times of undisturbed execution."});
}

void add_unverified_programs(const Run& run, std::vector<Finding>& findings) {
  std::vector<std::string> unverified;
  std::size_t programs = 0;
  for (const VariantInfo& variant : run.variants) {
    if (!variant.is_program()) continue;
    ++programs;
    const auto was_not = [&](const Case& c) { return c.key.variant == variant.id && verified_by(c).empty(); };
    if (std::ranges::any_of(run.cases, was_not)) unverified.push_back(format::short_id(variant.id));
  }
  if (unverified.empty()) return;
  const std::string all = "No output of a program was verified";
  const std::string some = fmt::format("Not all outputs of {} were verified", format::list(unverified));
  findings.push_back(
      {Severity::incomplete, fmt::format("{}: mprof knows how it ended, and what it took until then.",
                                         unverified.size() == programs ? all : some)});
}

/// Numbers that somebody else answers for.
void add_printed_numbers(const Run& run, std::vector<Finding>& findings) {
  for (const FamilyInfo& family : run.families) {
    std::vector<std::string> labels;
    for (const Case& c : run.cases) {
      if (family_of(c.key.variant) != family.id) continue;
      for (const PassResult& pass : c.passes) {
        for (const Measurement& row : pass.measurements) {
          if (row.source != Source::printed) continue;
          const QualityInfo* const quality = find_quality(family, row.metric);
          const std::string label =
              format::one_line(quality != nullptr           ? quality->label
                               : row.metric == "group_time" ? family.nouns.group_time_title
                                                            : family.nouns.op_time_title);
          if (std::ranges::find(labels, label) == labels.end()) labels.push_back(label);
        }
      }
    }
    if (labels.empty()) continue;
    findings.push_back(
        {Severity::caution,
         fmt::format("{} of {} {} what its programs print of themselves: mprof read the lines, and "
                     "knows neither by which clock the programs took them nor what they hold.",
                     format::list(labels), format::short_id(family.id), labels.size() == 1 ? "is" : "are")});
  }
}

/// What is not known of programs that were run as they are.
void add_programs(const Run& run, std::vector<Finding>& findings) {
  add_unverified_programs(run, findings);
  add_printed_numbers(run, findings);
  // What several cases have in common is said once.
  std::vector<std::pair<std::string, std::vector<std::string>>> notes;
  for (const Case& c : run.cases) {
    for (const PassResult& pass : c.passes) {
      if (!pass.outcome || pass.status == Status::skipped) continue;
      for (const std::string& note : pass.outcome->notes) {
        const std::string text = fmt::format("{} pass: {}", to_string(pass.pass), note);
        auto known = std::ranges::find(notes, text, &decltype(notes)::value_type::first);
        if (known == notes.end()) known = notes.insert(known, {text, {}});
        known->second.push_back(c.id);
      }
    }
  }
  for (const auto& [text, cases] : notes)
    findings.push_back({Severity::caution, fmt::format("{}, {}", format::list(cases), text)});
}

void add_missing_ceilings(const Run& run, std::vector<Finding>& findings) {
  for (const Ceiling& ceiling : run.ceilings) {
    if (ceiling.value || ceiling.method.empty()) continue;
    findings.push_back(
        {Severity::incomplete,
         fmt::format("The {} of the {} was not measured, so throughput in percent "
                     "of it is missing: {}",
                     format::words(ceiling.id), format::words(ceiling.device), sentence(ceiling.absent))});
  }
}

/// Times of two models are times of two machines.
void add_gpu_models(const Run& run, std::vector<Finding>& findings) {
  const std::vector<std::string> models = gpu_models(run);
  if (models.size() < 2) return;
  findings.push_back(
      {Severity::caution,
       fmt::format(
           "The run was measured on {} GPU models: {}. Each case is held against the peaks of the one "
           "that measured it; times and speed-ups of cases from different models say nothing of the "
           "code, percentages of the possible do.",
           models.size(), format::list(models))});
}

/// What the report was told to leave out may be faster than anything that it shows.
void add_left_out(const std::vector<FamilyResult>& families, std::vector<Finding>& findings) {
  for (const FamilyResult& family : families) {
    const std::size_t shown = family.variants.size();
    if (family.measured <= shown) continue;
    findings.push_back(
        {Severity::caution,
         fmt::format(
             "The report was told to show {} of the {} variants of {} that were measured: fastest and "
             "best are said of these alone.",
             shown, family.measured, format::short_id(family.id))});
  }
}

void add_dirty_tree(const Run& run, std::vector<Finding>& findings) {
  if (!run.tool.revision.ends_with("-dirty")) return;
  findings.push_back({Severity::caution,
                      "mprof was built from a tree with uncommitted changes: its revision does not "
                      "say exactly what ran."});
}

}  // namespace

std::vector<Finding> find_what_to_know(const Run& run, const std::vector<FamilyResult>& families) {
  std::vector<Finding> findings;
  if (run.cases.empty()) findings.push_back({Severity::incomplete, "The run holds no case."});
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
