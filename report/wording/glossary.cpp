// SPDX-License-Identifier: MIT
#include "report/wording/glossary.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "model/metric.hpp"
#include "model/rounds.hpp"
#include "report/analysis/program/picture.hpp"
#include "report/text/format.hpp"
#include "report/wording/judgement.hpp"

namespace mprof {
namespace {

/// Which runs a row of the glossary is for.
enum class AppliesTo {
  variants,  ///< of mprof's families: what it does with them, and not with programs as they are
  times,     ///< what it times itself, which it does not with other tools' files
  several,   ///< what is compared: of one program by itself nothing is
  programs,  ///< that run as they are
  gpus,
  counters  ///< of a GPU
};

struct GlossaryRow {
  std::string_view term;
  AppliesTo applies_to;
  std::string meaning;
};

template <class Is>
bool are_all(const RunAnalysis& analysis, Is is) {
  return !analysis.run->variants.empty() && std::ranges::all_of(analysis.run->variants, is);
}

bool is_of_imports(const RunAnalysis& analysis) {
  return are_all(analysis, [](const VariantInfo& one) { return one.is_imported(); });
}

bool is_of_programs(const RunAnalysis& analysis) {
  return are_all(analysis, [](const VariantInfo& one) { return one.is_imported() || one.is_program(); });
}

bool is_of_one_program(const RunAnalysis& analysis) {
  return analysis.families.size() == 1 && is_of_one_program(analysis.families.front());
}

bool is_on_gpu(const RunAnalysis& analysis) {
  return std::ranges::any_of(analysis.run->variants,
                             [](const VariantInfo& variant) { return variant.device == "cuda"; });
}

bool is_counted(const RunAnalysis& analysis) {
  return std::ranges::any_of(analysis.run->cases, [](const Case& c) {
    const PassResult* const counters = find_pass(c, Pass::counters);
    return counters != nullptr && counters->status == Status::ok;
  });
}

bool applies(AppliesTo what, const RunAnalysis& analysis) {
  switch (what) {
    case AppliesTo::variants:
      return !is_of_programs(analysis);
    case AppliesTo::times:
      return !is_of_imports(analysis);
    case AppliesTo::several:
      return !is_of_imports(analysis) && !is_of_one_program(analysis);
    case AppliesTo::programs:
      return !is_of_one_program(analysis) && is_of_programs(analysis) && !is_of_imports(analysis);
    case AppliesTo::gpus:
      return is_on_gpu(analysis);
    case AppliesTo::counters:
      break;
  }
  return is_on_gpu(analysis) && is_counted(analysis);
}

std::string meaning_of_op(const RunAnalysis& analysis) {
  const auto grouped = std::ranges::find_if(
      analysis.families, [](const FamilyResult& family) { return family.words.has_group(); });
  return fmt::format(
      "Op time: an op's kernels alone, its inputs on the device already. {}Total: one whole execution, from "
      "input to output.",
      grouped == analysis.families.end()
          ? ""
          : fmt::format("{}: the op with allocation, copies in and out, and frees. ",
                        format::sentence_case(grouped->words.time("group_time"))));
}

/// Of processes, where no rounds show it: what intervals assume, as model/rounds.hpp says.
std::string assumed_of_processes(const Run& run) {
  const auto percent = [](double deviation) { return fmt::format("{:g} %", 100 * deviation); };
  const bool beside_gpu = is_beside_gpu(run);
  const std::string host = percent(assumed_deviation(ClockSource::host, beside_gpu));
  const std::string device = percent(assumed_deviation(ClockSource::device, beside_gpu));
  return fmt::format(
      "what was seen on other machines ({}{} of host times), since this run has one round only",
      beside_gpu ? device + " of device times, " : "", host);
}

std::string meaning_of_time(const RunAnalysis& analysis) {
  const bool in_rounds = most_rounds_of(*analysis.run) > 1;
  return fmt::format(
      "A time is {}. ± is half the width of the 95 % prediction interval for the next run, by Student's t on "
      "a logarithmic scale. How much processes differ comes from {}.{} Of anything else than a time ± is the "
      "95 % interval of the median, from order statistics.",
      in_rounds ? "the geometric mean of its rounds' medians, each round a process of its own"
                : "the median of its samples",
      in_rounds
          ? "the rounds: the variance of each time, moderated by all times of its clock (Smyth 2004), and "
            "what a round does to all times, which ratios leave out"
          : assumed_of_processes(*analysis.run),
      is_on_gpu(analysis)
          ? " The ± of a device time includes one step of the SM clock, where that clock was read."
          : "");
}

std::string meaning_of_verdicts() {
  return fmt::format(
      "Faster or slower: a t-test on the logarithms of the rounds' medians, with the variances that ± has, "
      "has p of at most {} %, and the change exceeds {}. Same: the 95 % interval of the change lies within "
      "that. Anything else is inconclusive. Of a time that was disturbed, only what the disturbance cannot "
      "explain counts.",
      100 * significance, thresholds_text());
}

std::string meaning_of_verified(const RunAnalysis& analysis) {
  const bool any_own_reference = std::ranges::any_of(analysis.families, &FamilyResult::has_own_reference);
  return fmt::format(
      "Each op's output is poisoned before an execution apart from the timed ones, and compared with {} "
      "after it. A time of a wrong output is shown, marked, and never counts as a speed-up.",
      any_own_reference ? "its family's reference" : "a double-precision reference");
}

std::string meaning_of_bounds(const RunAnalysis& analysis) {
  std::string text =
      "What removing one limit alone could gain at most, by counts or the trace; mprof's "
      "docs/how-it-works/advice.md has the formulas. Several do not add up";
  if (is_of_one_program(analysis) || is_of_imports(analysis)) return text + ".";
  return text +
         ", and tensor cores are not compared with what CUDA cores could do. The comparisons after it are "
         "the ops (or total times) of this run's variants that changed the same limit of their own baseline. "
         "It was their largest predicted gain if no other rule predicted more.";
}

std::vector<GlossaryRow> glossary(const RunAnalysis& analysis) {
  return {
      {.term = "Op, total", .applies_to = AppliesTo::variants, .meaning = meaning_of_op(analysis)},
      {.term = "Warp instruction",
       .applies_to = AppliesTo::counters,
       .meaning = "An instruction that a warp's 32 threads execute together. Each of a multiprocessor's four "
                  "schedulers can issue one in a cycle: these are the issue slots."},
      {.term = "Stall",
       .applies_to = AppliesTo::counters,
       .meaning =
           "A warp's waiting, by its reason. Long scoreboard: for global or local memory. Short "
           "scoreboard: for shared memory, constants whose address is computed, or special functions. "
           "LG throttle: for room in the queue to global and local memory. MIO throttle: for room in the "
           "queue to shared memory, computed constants and special functions. Barrier: for other warps of "
           "its block. Math pipe "
           "throttle: for an arithmetic pipe. Wait: a fixed time after its own last instruction. "
           "Dispatch: the dispatcher held it back. Not selected does no harm: the warp was ready, and "
           "the scheduler took another one."},
      {.term = "Busiest unit, SM and memory throughput",
       .applies_to = AppliesTo::counters,
       .meaning = "How much of what it could do in the time of a kernel the busiest part did: of the "
                  "multiprocessors (SM), or of the caches and DRAM (memory); two figures are SM / memory. "
                  "L1/TEX is the cache of a multiprocessor. Latency: both are under 60\u00a0%, so warps "
                  "wait. Balanced: they differ by less than 10 points. Near the limit: over 80\u00a0%. Under "
                  "one wave: the grid does not fill the GPU once."},
      {.term = "Traced",
       .applies_to = AppliesTo::gpus,
       .meaning = "Of an execution apart from the timed ones, in which the begin and end of each kernel, "
                  "copy and CUDA call were recorded."},
      {.term = "Up to", .applies_to = AppliesTo::gpus, .meaning = meaning_of_bounds(analysis)},
      {.term = "Time, ±", .applies_to = AppliesTo::times, .meaning = meaning_of_time(analysis)},
      {.term = "Device time, host time",
       .applies_to = AppliesTo::times,
       .meaning =
           "Device times come from timestamps of the GPU, such as op times on a GPU. Host times come from "
           "the host's timer, such as total times."},
      {.term = "Scaling",
       .applies_to = AppliesTo::several,
       .meaning = "What an op does a second at the smallest and at the largest problem. 1× says that its "
                  "time grows as the work does."},
      {.term = "Speed-up",
       .applies_to = AppliesTo::several,
       .meaning =
           "The baseline's time divided by the variant's; above 1 is faster. In parentheses: the times may "
           "be the same. Each variant declares its own baseline; the common one is the baseline from which "
           "most variants come. The interval is the 95 % confidence interval of the t-test behind Faster, "
           "slower, same."},
      {.term = "Of possible",
       .applies_to = AppliesTo::variants,
       .meaning = "The shortest time that the measured peaks allow an op, divided by its op time. That "
                  "shortest time is the longest of three: its FLOPs at the measured rate of FP32 or of the "
                  "tensor cores used, its bytes at the memory bandwidth, its special functions at their "
                  "rate. Modelled."},
      {.term = "Faster, slower, same", .applies_to = AppliesTo::several, .meaning = meaning_of_verdicts()},
      {.term = "Tied",
       .applies_to = AppliesTo::several,
       .meaning = "Of two times that were not disturbed, neither is faster by this rule."},
      {.term = "Verified", .applies_to = AppliesTo::variants, .meaning = meaning_of_verified(analysis)},
      {.term = "Right",
       .applies_to = AppliesTo::programs,
       .meaning =
           "What a program computes is known by what its suite asks for alone: a command that judges it, a "
           "number that it prints, or an output to compare. Without one mprof knows how the program ended."},
      {.term = "Sweep",
       .applies_to = AppliesTo::variants,
       .meaning = "One variant at several values of its parameters in one run: mprof run --variant ID --set "
                  "NAME=V,V,... (NAME=* for all its values; several --set make every combination). Best is "
                  "the lowest median of a verified output."},
      {.term = "Ended by",
       .applies_to = AppliesTo::variants,
       .meaning = "What ended the repeats: interval (every median's interval was narrow enough), sample "
                  "limit or time limit."},
      {.term = "Modelled",
       .applies_to = AppliesTo::variants,
       .meaning = "Computed from the op's definition and its time, not counted by hardware."},
  };
}

/// Every metric that the run holds of a case or an op.
std::set<std::string, std::less<>> recorded_metrics(const Run& run) {
  std::set<std::string, std::less<>> metrics;
  for (const Case& c : run.cases) {
    for (const PassResult& pass : c.passes) {
      for (const Measurement& m : pass.measurements) {
        if (m.kernel.empty()) metrics.insert(m.metric);
      }
    }
  }
  return metrics;
}

/// What readers call the time of an op with its stages, where all families have one word for it.
std::string their_group_time(const std::vector<FamilyResult>& families) {
  const std::string usual = Words().time("group_time");
  if (families.empty()) return usual;
  std::string theirs = families.front().words.time("group_time");
  const bool agreed = std::ranges::all_of(
      families, [&](const FamilyResult& family) { return family.words.time("group_time") == theirs; });
  return agreed ? theirs : usual;
}

/// What a metric is called by the families, each name once.
std::string names_of(const std::vector<FamilyResult>& families, const Metric& metric) {
  std::vector<std::string> names;
  for (const FamilyResult& family : families) {
    std::string name = metric_label(family.info, family.words, metric.id);
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  return names.empty() ? std::string(metric.label) : format::list(names);
}

}  // namespace

std::vector<Term> glossary_of(const RunAnalysis& analysis) {
  std::vector<Term> terms;
  for (const GlossaryRow& row : glossary(analysis)) {
    if (applies(row.applies_to, analysis)) terms.push_back({std::string(row.term), row.meaning});
  }
  return terms;
}

std::vector<Term> metrics_explained(const RunAnalysis& analysis) {
  const std::vector<FamilyResult>& families = analysis.families;
  std::vector<Term> terms;
  const auto recorded = recorded_metrics(*analysis.run);
  const std::string group_time = their_group_time(families);
  for (const Metric& metric : metric_catalogue()) {
    if (!recorded.contains(metric.id)) continue;
    terms.push_back({names_of(families, metric),
                     fmt::format(fmt::runtime(metric.meaning), fmt::arg("group_time", group_time))});
  }
  for (const FamilyResult& family : families) {
    for (const QualityInfo& quality : family.info.qualities) {
      if (recorded.contains(quality.metric))
        terms.push_back({format::one_line(quality.label), format::one_line(quality.meaning)});
    }
  }
  return terms;
}

}  // namespace mprof
