#include <algorithm>
#include <filesystem>
#include <set>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "model/metric.hpp"
#include "model/rounds.hpp"
#include "report/analysis/facts.hpp"
#include "report/text/format.hpp"
#include "report/views/table.hpp"
#include "report/views/views.hpp"

namespace mprof {
namespace {

using nlohmann::json;

constexpr std::size_t longest_machine_name = 80;

constexpr std::string_view own_programs = "program/";  // not those of a suite

std::string family_names(const RunAnalysis& analysis) {
  std::vector<std::string> names;
  for (const FamilyResult& family : analysis.families) names.push_back(format::short_id(family.id));
  // A program behind --, or other tools' files of some, are what the reader knows; their family is not.
  const std::vector<VariantInfo>& variants = analysis.run->variants;
  const bool are_own = std::ranges::all_of(
      variants, [](const VariantInfo& variant) { return variant.id.starts_with(own_programs); });
  if (are_own && !variants.empty()) {
    constexpr std::size_t most_in_title = 3;
    names.clear();
    for (const VariantInfo& variant : variants)
      names.push_back(format::short_id(variant.id.substr(own_programs.size())));
    return names.size() > most_in_title ? format::plural(names.size(), "program") : format::list(names);
  }
  return names.empty() ? "Empty run" : format::list(names);
}

std::string_view severity_word(Severity severity) {
  switch (severity) {
    case Severity::wrong:
      return "Wrong";
    case Severity::broken:
      return "Failed";
    case Severity::incomplete:
      return "Missing";
    case Severity::caution:
      break;
  }
  return "Note";
}

json finding_views(const std::vector<Finding>& findings) {
  json list = json::array();
  for (const Finding& finding : findings) {
    json details = json::array();
    for (const std::string& detail : finding.details) details.push_back(format::one_line(detail));
    list.push_back({{"severity", to_string(finding.severity)},
                    {"word", severity_word(finding.severity)},
                    {"grave", finding.severity != Severity::caution},
                    {"text", format::one_line(finding.text)},
                    {"tabled", finding.tabled},
                    {"has_details", !details.empty()},
                    {"details", details}});
  }
  return list;
}

/// A named list of facts.
struct FactList {
  std::string title;
  json facts = json::array();

  void add(std::string name, std::string text, bool absent = false) {
    if (!text.empty())
      facts.push_back({{"name", std::move(name)}, {"text", std::move(text)}, {"absent", absent}});
  }
  [[nodiscard]] json view() const { return {{"title", title}, {"facts", facts}}; }
};

template <class Range, class Text>
std::string joined(const Range& range, Text text) {
  std::vector<std::string> words;
  for (const auto& element : range) words.push_back(format::one_line(text(element)));
  return fmt::format("{}", fmt::join(words, ", "));
}

FactList run_facts(const Run& run) {
  FactList list{"Run"};
  list.add("Started", moment(run.started));
  list.add("Finished", run.finished.empty() ? "not finished" : moment(run.finished), run.finished.empty());
  list.add("mprof", format::one_line(fmt::format("{}, revision {}", run.tool.version, run.tool.revision)));
  return list;
}

/// "100, 1000, 10000" under "Sizes"; of several axes "size 8192, iterations 5; ...".
void add_problems(FactList& list, const Run& run, bool several_families) {
  for (const auto& [id, problems] : run.plan.problems) {
    const FamilyInfo* family = find_family(run, id);
    const Words words(family == nullptr ? FamilyInfo{} : *family, problems);
    std::string text = words.axes().size() == 1
                           ? joined(problems, [&](const Problem& problem) { return words.values({problem}); })
                           : words.values(problems);
    if (!words.throughout().empty()) text += fmt::format("; {} throughout", words.throughout());
    const std::string name = format::sentence_case(words.several());
    list.add(several_families ? fmt::format("{} of {}", name, format::one_line(id)) : name, text);
  }
}

/// "by tuned.json: map/tiled[width=8]@size=100; other variants and problems have their defaults"
std::string tuned_text(const Run& run) {
  if (!run.plan.tuned) return "";
  std::vector<std::string> points;
  for (const TunedPoint& point : run.plan.tuned->points) {
    const VariantInfo* const variant = find_variant(run, point.variant);
    points.push_back(case_id({point.variant, point.parameters, point.problem},
                             variant == nullptr ? VariantInfo{} : *variant));
  }
  return format::one_line(fmt::format("by {}: {}; other variants and problems have their defaults",
                                      run.plan.tuned->file, fmt::join(points, ", ")));
}

FactList plan_facts(const Run& run) {
  const Plan& plan = run.plan;
  const Stopping& stop = plan.stopping;
  FactList list{"Plan"};
  add_problems(list, run, plan.problems.size() > 1);
  list.add("Passes", joined(plan.passes, [](Pass pass) { return std::string(to_string(pass)); }));
  list.add("Settings", joined(plan.settings, [](const auto& setting) {
             return fmt::format("{}={}", setting.first, fmt::join(setting.second, "|"));
           }));
  list.add("Tuned", tuned_text(run));
  list.add("Quick", plan.quick ? "yes: few repeats" : "");
  const std::string repeats = fmt::format(
      "until the 95 % interval of every median is within {} (not before {} samples), and for {} samples or "
      "{:g} s at the "
      "most, whichever is first; one sample at the least",
      format::plus_minus(stop.relative_half_width), stop.min_samples, stop.max_samples, stop.max_seconds);
  list.add("Rounds", plan.rounds > 1 ? fmt::format("{}, each in a process of its own", plan.rounds) : "");
  list.add("Repeats", plan.rounds > 1 ? "in each round " + repeats : repeats);
  list.add("Order of cases", fmt::format("shuffled, seed {}", plan.seed));
  list.add("Time limit", plan.timeout > 0 ? fmt::format("{:g} s a case and pass", plan.timeout) : "none");
  return list;
}

/// What the families read: where it is, and what that held.
FactList input_facts(const Run& run) {
  FactList list{"Inputs"};
  for (const auto& [name, path] : run.plan.inputs)
    list.add(format::sentence_case(format::words(format::one_line(name))), format::one_line(path));
  for (const InputFile& file : run.inputs) {
    list.add(format::one_line(std::filesystem::path(file.path).filename().string()),
             format::one_line(fmt::format("{}, {}", format::about(static_cast<double>(file.size), Unit::byte),
                                          file.checksum)));
  }
  return list;
}

Unit unit_of_ceiling(const std::string& id) {
  if (id.find("bandwidth") != std::string::npos) return Unit::byte_per_second;
  return id.find("flop") != std::string::npos ? Unit::flop_per_second : Unit::per_second;
}

FactList peak_facts(const Run& run) {
  FactList list{"Measured peaks"};
  for (const Ceiling& ceiling : run.ceilings) {
    const std::string name =
        format::one_line(fmt::format("{}, {}", format::words(ceiling.id), format::words(ceiling.device)));
    const Unit unit = unit_of_ceiling(ceiling.id);
    const std::string_view no_bound =
        ceiling.id.starts_with("pageable") ? "; the host copies too, so that others may be faster" : "";
    const std::string text = ceiling.value ? fmt::format("{} ({}{})", format::about(*ceiling.value, unit),
                                                         ceiling.method, no_bound)
                                           : fmt::format("– ({})", ceiling.absent);
    list.add(format::sentence_case(name), format::one_line(text), !ceiling.value);
  }
  return list;
}

/// "sum at sizes 100 and 1000; map at size 8192", where a part has a family's problems in part.
std::string problems_of(const RunPart& part, const RunAnalysis& analysis) {
  const std::set<std::string_view> own(part.cases.begin(), part.cases.end());
  std::vector<std::string> texts;
  bool has_all = true;
  for (const FamilyResult& family : analysis.families) {
    std::set<Problem> problems;
    for (const VariantResult& variant : family.variants) {
      for (const CaseResult& result : variant.cases) {
        if (own.contains(result.id)) problems.insert(result.key.problem);
      }
    }
    has_all = has_all && problems.size() == family.problems.size();
    if (problems.empty()) continue;
    texts.push_back(fmt::format("{} {}", format::short_id(family.id),
                                family.words.at({problems.begin(), problems.end()})));
  }
  return has_all ? "" : fmt::format(", of {}", fmt::join(texts, "; "));
}

/// Which machine or GPU measured what of a merged run: as many as two hosts have GPUs, a fleet is not read
/// line by line.
FactList part_facts(const RunAnalysis& analysis) {
  const Run& run = *analysis.run;
  constexpr std::size_t shown = 16;
  FactList list{"Parts"};
  const std::span<const RunPart> first = std::span(run.parts).first(std::min(shown, run.parts.size()));
  for (const RunPart& part : first) {
    list.add(format::one_line(part_name(part)),
             fmt::format("{} of {} cases{}", part.cases.size(), run.cases.size(),
                         format::one_line(problems_of(part, analysis))));
  }
  if (run.parts.size() > shown)
    list.add(fmt::format("{} more", format::count(run.parts.size() - shown)), "parts[] of run.json has them");
  return list;
}

json setup_views(const RunAnalysis& analysis) {
  const Run& run = *analysis.run;
  std::vector<FactList> lists{run_facts(run), part_facts(analysis), plan_facts(run), input_facts(run),
                              peak_facts(run)};
  const Environment environment = shown_environment(run);
  for (const std::string& group : ordered_groups(environment)) {
    FactList list{group_title(group)};
    for (const std::string& name : ordered_facts(environment.at(group))) {
      const Fact& fact = environment.at(group).at(name);
      list.add(fact_title(group, name), fact_text(group, name, fact), std::holds_alternative<Absent>(fact));
    }
    lists.push_back(std::move(list));
  }
  json views = json::array();
  for (const FactList& list : lists) {
    if (!list.facts.empty()) views.push_back(list.view());
  }
  return views;
}

/// One line of what the reader asks first: where, when, with what.
std::string subtitle(const Run& run) {
  std::vector<std::string> parts;
  for (const auto& [name, word] : {std::pair{"driver", "driver"}, std::pair{"CUDA runtime", "CUDA"}}) {
    const std::string version = known_fact(run, "gpu", name);
    if (!version.empty()) parts.push_back(fmt::format("{} {}", word, version));
  }
  const std::string cores = known_fact(run, "cpu", "cores");
  if (!cores.empty()) parts.push_back(fmt::format("{} CPU {}", cores, cores == "1" ? "core" : "cores"));
  for (const auto& [group, name] : {std::pair{"os", "distribution"}, std::pair{"build", "compiler"}}) {
    const std::string fact = known_fact(run, group, name);
    if (!fact.empty()) parts.push_back(fact);
  }
  parts.push_back(moment(run.started));
  parts.push_back(format::one_line(fmt::format("mprof {} ({})", run.tool.version, run.tool.revision)));
  return fmt::format("{}", fmt::join(parts, " · "));
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

/// The catalogue's word for an op with its stages, in the readers' word where all families have one.
std::string in_their_words(const std::vector<FamilyResult>& families, std::string_view text) {
  constexpr std::string_view own = "group time";
  std::string result(text);
  if (families.empty()) return result;
  const std::string theirs = families.front().words.time("group_time");
  const bool agreed = std::ranges::all_of(
      families, [&](const FamilyResult& family) { return family.words.time("group_time") == theirs; });
  if (!agreed) return result;
  const bool leads = result.starts_with("Group time");
  if (leads) result.replace(0, own.size(), own);
  for (std::size_t at = result.find(own); at != std::string::npos; at = result.find(own, at + theirs.size()))
    result.replace(at, own.size(), theirs);
  return leads ? format::sentence_case(result) : result;
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

template <class Add>
void add_words_of_counters(Add add) {
  add("Warp instruction",
      "An instruction that a warp's 32 threads execute together. Each of a multiprocessor's four schedulers "
      "can issue one in a cycle: these are the issue slots.");
  add("Stall",
      "A warp's waiting, by its reason. Long scoreboard: for global or local memory. Short scoreboard: for "
      "shared memory, constants whose address is computed, or special functions. LG and MIO throttle: for "
      "room "
      "in the queue for the former and for the latter. Barrier: for other warps of its block. Math pipe "
      "throttle: for an arithmetic pipe. Wait: a fixed time behind its own last instruction. Dispatch: the "
      "dispatcher held it back. Not selected is no harm: it was ready, and another warp was taken.");
  add("Busiest unit, SM and memory throughput",
      "How much of what it could do in the time of a kernel the busiest part did: of the multiprocessors "
      "(SM), or of the caches and DRAM (memory); two figures are SM / memory. L1/TEX is the cache of a "
      "multiprocessor. Latency: both are under 60\u00a0%, so warps wait. Balanced: they differ by less than "
      "10 "
      "points. Near the limit: over 80\u00a0%. Under one wave: the grid does not fill the GPU once.");
}

/// What sentences about hardware take for known; nothing of a run without a GPU.
template <class Add>
void add_words_of_gpus(const RunAnalysis& analysis, Add add) {
  const bool on_gpu = std::ranges::any_of(
      analysis.run->variants, [](const VariantInfo& variant) { return variant.device == "cuda"; });
  if (!on_gpu) return;
  const bool counted = std::ranges::any_of(analysis.run->cases, [](const Case& c) {
    const PassResult* const counters = find_pass(c, Pass::counters);
    return counters != nullptr && counters->status == Status::ok;
  });
  if (counted) add_words_of_counters(add);
  add("Traced",
      "Of an execution apart from the timed ones, in which the begin and end of each kernel, copy and CUDA "
      "call were recorded.");
  add("Up to",
      "What removing one limit alone could gain at the most, by counts or the trace; mprof's "
      "docs/how-it-works/advice.md has the formulas. Several do not add up, and tensor cores are not held to "
      "what CUDA cores could do. The steps behind it are, in this run, the ops (or wholes) of variants that "
      "moved the same limit of their own baseline; its own are those in which no other rule predicted more.");
}

template <class Is>
bool are_all(const RunAnalysis& analysis, Is is) {
  return !analysis.run->variants.empty() && std::ranges::all_of(analysis.run->variants, is);
}

/// How to read the page: the words that mprof adds.
json glossary_view(const RunAnalysis& analysis) {
  json terms = json::array();
  const bool imported = are_all(analysis, [](const VariantInfo& one) { return one.is_imported(); });
  const bool as_they_are =
      are_all(analysis, [](const VariantInfo& one) { return one.is_imported() || one.is_program(); });
  // What mprof does with variants of its families alone, and with what it times.
  const std::set<std::string_view> of_variants{"Op, total", "Of possible", "Verified",
                                               "Sweep",     "Ended by",    "Modelled"};
  const std::set<std::string_view> of_times{"Time, ±", "Scaling", "Speed-up", "Faster, slower, same"};
  const auto add = [&](std::string_view term, std::string_view meaning) {
    if (as_they_are && of_variants.contains(term)) return;
    if (imported && of_times.contains(term)) return;
    terms.push_back({{"term", term}, {"meaning", meaning}});
  };
  const auto grouped = std::ranges::find_if(
      analysis.families, [](const FamilyResult& family) { return family.words.has_group(); });
  add("Op, total",
      fmt::format("Op time: an op's kernels alone, its inputs on the device already. {}Total: one whole "
                  "execution, from input to output.",
                  grouped == analysis.families.end()
                      ? ""
                      : fmt::format("{}: the op with allocation, copies in and out, and frees. ",
                                    format::sentence_case(grouped->words.time("group_time")))));
  add_words_of_gpus(analysis, add);
  const bool in_rounds = most_rounds_of(*analysis.run) > 1;
  add("Time, ±",
      fmt::format(
          "A time is {}; ± is half the width of the interval in which the next run's lies 95 times in 100: "
          "Student's t on a logarithmic scale. How much processes differ comes from {}. Of anything else "
          "than "
          "a time ± is the 95 % interval of the median, from order statistics.",
          in_rounds ? "the geometric mean of its rounds' medians, each round a process of its own"
                    : "the median of its samples",
          in_rounds ? "the rounds, each time's own variance drawn towards that of all times of its clock "
                      "(Smyth 2004), and from what a round does to all times, which ratios leave out"
                    : "what was seen on an H200 (0.3 % by the GPU's clock, 5 % by the host's), since this "
                      "run has one "
                      "round only"));
  add("Scaling",
      "What an op does a second at the smallest and at the largest problem. 1× says that its time grows as "
      "the work does.");
  add("Speed-up",
      "The baseline's time over this variant's; above 1 is faster. In parentheses: not told apart. Each "
      "variant declares its own baseline; the common one is that from which most variants come. The interval "
      "is the 95 % one of the t-test that "
      "Faster, slower, same is told by.");
  add("Of possible",
      "The time that the measured peaks allow an op (its FLOPs at the measured rate of FP32 or of the tensor "
      "cores that compute them, "
      "its bytes at the memory "
      "bandwidth or its special functions at their rate, whichever takes longest) over its op time. "
      "Modelled.");
  add("Faster, slower, same",
      fmt::format("Faster or slower: a t-test on the logarithms of the rounds' medians, with the variances "
                  "that ± has, has p of at most {} %, and the change exceeds {}. Same: the 95 % interval of "
                  "the change lies within that. Anything else is inconclusive, and so is a time that was "
                  "disturbed.",
                  100 * significance, thresholds_text()));
  const bool any_own_reference = std::ranges::any_of(analysis.families, &FamilyResult::has_own_reference);
  add("Verified",
      std::string("Each op's output is poisoned before an execution apart from the timed ones, and compared "
                  "with ") +
          (any_own_reference ? "its family's reference" : "a double-precision reference") +
          " after it. A time of a wrong output is shown, marked, and never counts as a "
          "speed-up.");
  if (as_they_are && !imported)
    add("Right",
        "What a program computes is known by what its suite asks for alone: a command that judges it, a "
        "number "
        "that it prints, or an output to compare. Without one mprof knows how the program ended.");
  add("Sweep",
      "One variant at several values of its parameters in one run: mprof run --variant ID --set NAME=V,V,... "
      "(NAME=* for all its values; several --set make every combination). Best is the lowest median of a "
      "verified output; a point is level with it where the best is not faster than it by this rule.");
  add("Ended by",
      "What ended the repeats: interval (every median's interval was narrow enough), sample limit or time "
      "limit.");
  add("Modelled", "Computed from the op's definition and its time, not counted by hardware.");
  return terms;
}

/// The metrics of the catalogue that the run holds, and the qualities of its families.
json metrics_view(const RunAnalysis& analysis) {
  const std::vector<FamilyResult>& families = analysis.families;
  json terms = json::array();
  const auto add = [&](std::string_view term, std::string_view meaning) {
    terms.push_back({{"term", term}, {"meaning", meaning}});
  };
  const auto recorded = recorded_metrics(*analysis.run);
  for (const Metric& metric : metric_catalogue()) {
    if (!recorded.contains(metric.id)) continue;
    add(in_their_words(families, names_of(families, metric)), in_their_words(families, metric.meaning));
  }
  for (const FamilyResult& family : families) {
    for (const QualityInfo& quality : family.info.qualities) {
      if (recorded.contains(quality.metric))
        add(format::one_line(quality.label), format::one_line(quality.meaning));
    }
  }
  return terms;
}

/// What the parts of a time budget are is said at the first one.
void explain_budgets_once(json& families) {
  bool explained = false;
  for (json& family : families) {
    json& budget = family["time_budget"];
    budget["explained"] = !explained;
    explained = explained || budget["absent"] == "";
  }
}

}  // namespace

Page milestone_page(const RunAnalysis& analysis, const Materials& materials, const ReportText& text) {
  const Run& run = *analysis.run;
  PagePlan plan;
  Anchors& anchors = plan.anchors;
  for (const char* section : {"top", "answer", "findings", "timeline", "evidence", "notes", "conclusion",
                              "setup", "reading", "chart-data"})
    (void)anchors.make(section);
  const RunAdvice advice = advise(analysis, materials.evidence);
  PageContext page{&materials, {}, &plan, &advice};
  json answers = json::array(), families = json::array();
  for (const FamilyResult& family : analysis.families) {
    families.push_back(family_view(family, page));
    // A page about one family need not name it in every heading.
    families.back()["suffix"] = analysis.families.size() > 1 ? ": " + format::one_line(family.id) : "";
    for (const VariantResult& variant : family.variants) {
      for (const json& shown : families.back()["variants"]) {
        if (shown["id"] == format::one_line(variant.info.id))
          page.variants[variant.info.id] = shown["anchor"];
      }
    }
    answers.push_back(answer_view(family, anchors));
    answers.back()["suffix"] = families.back()["suffix"];
    answers.back()["anchor"] = families.back()["sections"]["answer"];
    answers.back()["brief"] = brief_view(family, page);
    const json in_short = families.back()["time_budget"]["in_short"];
    if (!answers.back()["brief"].is_boolean())
      answers.back()["brief"]["budget"] = in_short;
    else if (in_short != "")  // where nothing was timed, the trace is all there is to tell
      answers.back()["sentences"].push_back(in_short);
  }
  explain_budgets_once(families);
  const json findings = finding_views(analysis.findings);
  const std::string title = text.title.empty()
                                ? fmt::format("{} on {}", family_names(analysis),
                                              format::elide(machine_name(run), longest_machine_name))
                                : format::one_line(text.title);
  json view{{"title", title},
            {"author", format::one_line(text.author)},
            {"subtitle", subtitle(run)},
            {"command", format::command_line(run.command_line)},
            {"answers", answers},
            {"findings", findings},
            {"has_findings", !findings.empty()},
            {"setup", setup_views(analysis)},
            {"families", families},
            {"notes", notes_view(analysis, page)},
            {"timeline", timeline_view(analysis, materials.evidence, plan)},
            {"evidence", evidence_view(analysis, materials.evidence, anchors)},
            {"glossary", glossary_view(analysis)},
            {"metrics", metrics_view(analysis)}};
  return {std::move(view), plan.charts(), plan.files()};
}

}  // namespace mprof
