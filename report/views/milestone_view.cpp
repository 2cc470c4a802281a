// SPDX-License-Identifier: MIT
#include <algorithm>
#include <filesystem>
#include <set>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "report/analysis/machines/environment.hpp"
#include "report/analysis/program/picture.hpp"
#include "report/text/format.hpp"
#include "report/views/import_answer.hpp"
#include "report/views/table.hpp"
#include "report/views/views.hpp"
#include "report/wording/findings.hpp"
#include "report/wording/glossary.hpp"

namespace mprof {
namespace {

using nlohmann::json;

constexpr std::size_t longest_machine_name = 80;

constexpr const char* clock_was_set_back =
    ", before it started: the clock of the machine was set back meanwhile";

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

/// The tables of one program call it so, and do not say which times of variants it lacks.
void word_for_program(json& node) {
  if (node.is_object() && node.contains("columns") && node.contains("remarks")) {
    for (json& column : node["columns"]) {
      if (column["variants"]) column["head"] = "Program";
    }
    const json& unrecorded = node["unrecorded"];
    std::erase_if(node["remarks"].get_ref<json::array_t&>(), [&](const json& remark) {
      return std::ranges::find(unrecorded, remark) != unrecorded.end();
    });
    node["has_notes"] = !node["notes"].empty() || !node["remarks"].empty();
  }
  if (node.is_structured()) {
    for (json& member : node) word_for_program(member);
  }
}

/// Of no op of a program is it known how much work its definition needs.
void leave_out_modelled(json& speed_of_light) {
  std::erase_if(speed_of_light["parts"].get_ref<json::array_t&>(),
                [](const json& part) { return part.value("modelled", false); });
}

/// Of the sections of variants only those that have something of programs to show.
void show_sections_of_programs(json& family, bool are_programs, bool is_suite) {
  family["is_program"] = are_programs;
  family["shows_verification"] = !are_programs || is_suite || !family["verification"].is_boolean();
  family["shows_sanitizer"] = !are_programs || !family["sanitizer"]["table"].is_boolean();
  family["shows_speed_of_light"] = !are_programs || family["speed_of_light"]["absent"] == "";
  family["shows_time_budget"] = !are_programs || family["time_budget"]["absent"] == "";
  if (!are_programs) return;
  if (family["ops"].size() == 1) family["has_ops"] = false;  // it is the whole program
  leave_out_modelled(family["speed_of_light"]);
  word_for_program(family);
}

/// A page about one program leaves out what there is of variants alone, and what nobody looked at.
void show_as_program(json& answer, json& family) {
  const json& program = answer["program"];
  if (!program["memory"].is_boolean()) family["gpu_memory"] = false;  // it is in the answer
  for (json& variant : family["variants"]) {
    // What bounds it, and what to do next, stand in the answer.
    if (variant["untold"] != "" || program["table"].is_boolean()) variant["outcome"] = false;
    variant["untold"] = "";
    if (program["table"].is_boolean()) variant["advice"] = false;
    variant["as_program"] = false;
  }
  answer["cards"] = program["cards"];
  answer["has_cards"] = !program["cards"].empty();
}

/// The same of several, each of which has its part of the answer.
void show_as_programs(json& answer, json& family) {
  family["gpu_memory"] = false;
  for (json& variant : family["variants"]) {
    for (const char* const part : {"outcome", "advice"}) variant[part] = false;
    variant["untold"] = "";
  }
  answer["cards"] = json::array();
  answer["has_cards"] = false;
}

json finding_views(const std::vector<Finding>& findings) {
  json list = json::array();
  for (const Finding& finding : findings) {
    json details = json::array();
    for (const Finding& detail : finding.details) details.push_back(format::one_line(text_of(detail)));
    list.push_back({{"severity", to_string(finding.severity)},
                    {"word", severity_word(finding.severity)},
                    {"grave", finding.severity != Severity::caution},
                    {"text", format::one_line(text_of(finding))},
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
  const bool set_back = !run.finished.empty() && run.finished < run.started;
  list.add(
      "Finished",
      run.finished.empty() ? "not finished" : moment(run.finished) + (set_back ? clock_was_set_back : ""),
      run.finished.empty());
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
      "until the 95 % interval of every median is within {} (not before {} samples), but at most {} samples "
      "or {:g} s, whichever is first; at least one sample",
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

/// One line of what the reader asks first: where, when, with what. The usual title names the machine already.
std::string subtitle(const Run& run, bool names_machine) {
  std::vector<std::string> parts;
  if (names_machine) parts.push_back(format::elide(machine_name(run), longest_machine_name));
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

json term_views(const std::vector<Term>& terms) {
  json list = json::array();
  for (const Term& term : terms) list.push_back({{"term", term.term}, {"meaning", term.meaning}});
  return list;
}

/// To what is said of the program whose profile it is.
void add_to_screen(json& screens, const ImportAnswer& one) {
  for (json& screen : screens) {
    if (screen["id"] == one.variant)
      screen["lines"].push_back(
          {{"lead", format::sentence_case(one.about)}, {"text", format::sentence_case(one.text)}});
  }
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
    json program = program_view(family, page), programs = programs_view(family, page);
    const bool is_program = !program.is_boolean(), are_programs = is_program || !programs.is_boolean();
    families.push_back(family_view(family, page, are_programs));
    // A page about one family need not name it in every heading.
    families.back()["suffix"] = analysis.families.size() > 1 ? ": " + format::one_line(family.id) : "";
    for (const VariantResult& variant : family.variants) {
      for (const json& shown : families.back()["variants"]) {
        if (shown["id"] == format::one_line(variant.info.id))
          page.variants[variant.info.id] = shown["anchor"];
      }
    }
    const Brief brief = brief_of(family);
    answers.push_back(answer_view(family, brief, anchors));
    answers.back()["suffix"] = families.back()["suffix"];
    answers.back()["anchor"] = families.back()["sections"]["answer"];
    answers.back()["brief"] = brief_view(family, brief, page);
    answers.back()["program"] = std::move(program);
    answers.back()["programs"] = std::move(programs);
    answers.back()["shows_variants"] = !are_programs;
    show_sections_of_programs(families.back(), are_programs, family.id != own_family);
    families.back()["programs_title"] = is_program ? "The program" : "The programs";
    if (is_program)
      show_as_program(answers.back(), families.back());
    else if (are_programs)
      show_as_programs(answers.back(), families.back());
    const json in_short = families.back()["time_budget"]["in_short"];
    if (!answers.back()["brief"].is_boolean())
      answers.back()["brief"]["budget"] = in_short;
    else if (in_short != "")  // where nothing was timed, the trace is all there is to tell
      answers.back()["sentences"].push_back(in_short);
    for (const ImportAnswer& one : import_answers(family, materials.evidence, are_programs)) {
      if (are_programs && !is_program)
        add_to_screen(answers.back()["programs"]["screens"], one);
      else if (is_program)
        answers.back()["program"]["lines"].push_back(
            {{"lead", format::sentence_case(one.about)}, {"text", format::sentence_case(one.text)}});
      else
        answers.back()["sentences"].push_back(fmt::format("{}, {}: {}", one.profile, one.about, one.text));
    }
  }
  explain_budgets_once(families);
  json findings = finding_views(analysis.findings);
  const bool has_findings = !findings.empty();
  const std::string title = text.title.empty()
                                ? fmt::format("{} on {}", family_names(analysis),
                                              format::elide(machine_name(run), longest_machine_name))
                                : format::one_line(text.title);
  json view{{"title", title},
            {"author", format::one_line(text.author)},
            {"subtitle", subtitle(run, !text.title.empty())},
            {"command", format::command_line(run.command_line)},
            {"answers", std::move(answers)},
            {"findings", std::move(findings)},
            {"has_findings", has_findings},
            {"setup", setup_views(analysis)},
            {"families", std::move(families)},
            {"notes", notes_view(analysis, page)},
            {"timeline", timeline_view(analysis, materials.evidence, plan)},
            {"evidence", evidence_view(analysis, materials.evidence, anchors)},
            {"glossary", term_views(glossary_of(analysis))},
            {"metrics", term_views(metrics_explained(analysis))}};
  // Of a program alone nothing is said of what nobody recorded but in its answer.
  const bool is_of_programs =
      !view["families"].empty() && std::ranges::all_of(view["families"], [](const json& family) {
        return family["is_program"].get<bool>();
      });
  for (const char* const part : {"timeline", "evidence"}) {
    if (is_of_programs && view[part]["absent"] != "") view[part] = false;
    if (is_of_programs) word_for_program(view[part]);
  }
  view["only_programs"] = is_of_programs;
  return {std::move(view), plan.take_charts(), plan.files()};
}

}  // namespace mprof
