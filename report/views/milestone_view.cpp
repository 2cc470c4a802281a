#include <algorithm>

#include <fmt/format.h>

#include "model/metric.hpp"
#include "report/analysis/facts.hpp"
#include "report/text/format.hpp"
#include "report/views/table.hpp"
#include "report/views/views.hpp"

namespace mprof {
namespace {

using nlohmann::json;

constexpr std::size_t longest_machine_name = 80;

std::string family_names(const RunAnalysis& analysis) {
  std::vector<std::string> names;
  for (const FamilyResult& family : analysis.families) names.push_back(format::short_id(family.id));
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
    list.push_back({{"severity", to_string(finding.severity)},
                    {"word", severity_word(finding.severity)},
                    {"text", format::one_line(finding.text)}});
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

FactList plan_facts(const Plan& plan) {
  const Stopping& stop = plan.stopping;
  FactList list{"Plan"};
  list.add("Batches", joined(plan.batches, [](std::uint64_t batch) { return std::to_string(batch); }));
  list.add("Passes", joined(plan.passes, [](Pass pass) { return std::string(to_string(pass)); }));
  list.add("Settings", joined(plan.settings, [](const auto& setting) {
             return fmt::format("{}={}", setting.first, fmt::join(setting.second, "|"));
           }));
  list.add("Quick", plan.quick ? "yes: few repeats" : "");
  list.add(
      "Repeats",
      fmt::format("until the 95 % interval of every median is within {}, {} to {} samples, at most {:g} s",
                  format::plus_minus(stop.relative_half_width), stop.min_samples, stop.max_samples,
                  stop.max_seconds));
  list.add("Order of cases", fmt::format("shuffled, seed {}", plan.seed));
  list.add("Time limit", plan.timeout > 0 ? fmt::format("{:g} s a case and pass", plan.timeout) : "none");
  list.add("Images", format::one_line(plan.images));
  list.add("Weights", format::one_line(plan.weights));
  return list;
}

FactList peak_facts(const Run& run) {
  FactList list{"Measured peaks"};
  for (const Ceiling& ceiling : run.ceilings) {
    const std::string name =
        format::one_line(fmt::format("{}, {}", format::words(ceiling.id), format::words(ceiling.device)));
    const Unit unit =
        ceiling.id.find("bandwidth") == std::string::npos ? Unit::flop_per_second : Unit::byte_per_second;
    const std::string text = ceiling.value
                                 ? fmt::format("{} ({})", format::about(*ceiling.value, unit), ceiling.method)
                                 : fmt::format("– ({})", ceiling.absent);
    list.add(format::sentence_case(name), format::one_line(text), !ceiling.value);
  }
  return list;
}

json setup_views(const Run& run) {
  std::vector<FactList> lists{run_facts(run), plan_facts(run.plan), peak_facts(run)};
  for (const std::string& group : ordered_groups(run.environment)) {
    FactList list{group_title(group)};
    for (const std::string& name : ordered_facts(run.environment.at(group))) {
      const Fact& fact = run.environment.at(group).at(name);
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

/// How to read the page: the words that mprof adds, then the metrics that the run holds, from the catalogue.
json glossary_view(const Run& run) {
  json terms = json::array();
  const auto add = [&](std::string_view term, std::string_view meaning) {
    terms.push_back({{"term", term}, {"meaning", meaning}});
  };
  add("Median, ±",
      "A time is the median of its samples; ± is half the width of the 95 % interval of that median, which "
      "comes from order statistics and assumes nothing of the distribution.");
  add("Speed-up",
      "The baseline's median over this variant's; above 1 is faster. Each variant declares its own baseline. "
      "The interval pairs the far ends of both medians' intervals, so it is a cautious one.");
  add("Of possible",
      "The time that the measured peaks allow an op (its FLOPs at the FP32 rate or its bytes at the memory "
      "bandwidth, whichever takes longer) over its op time. Modelled.");
  add("Verified",
      "Each op's output is poisoned before a checked execution and compared with a double-precision "
      "reference after it. A time of a wrong output is shown, marked, and never counts as a speed-up.");
  add("Sweep",
      "One variant at several values of its parameters in one run: mprof run --variant ID --set NAME=V,V,... "
      "(NAME=* for all its values; several --set make every combination). Best is the lowest median of a "
      "verified output; a point is level with it where their 95 % intervals overlap.");
  add("Ended by",
      "What ended the repeats: interval (every median's interval was narrow enough), sample limit or time "
      "limit.");
  add("Modelled", "Computed from the op's definition and its time, not counted by hardware.");
  for (const Metric& metric : metric_catalogue()) {
    const bool recorded = std::any_of(run.cases.begin(), run.cases.end(), [&](const Case& c) {
      return find_measurement(c, metric.id) != nullptr ||
             std::any_of(c.ops.begin(), c.ops.end(), [&](const OpInfo& op) {
               return find_measurement(c, metric.id, op.name) != nullptr;
             });
    });
    if (recorded) add(metric.label, metric.meaning);
  }
  return terms;
}

}  // namespace

std::string Anchors::make(std::string_view text) {
  const std::string slug = format::slug(text);
  const std::string base = slug.empty() ? "part" : slug;
  std::string name = base;
  for (int n = 2; !taken_.insert(name).second; ++n) name = fmt::format("{}-{}", base, n);
  return name;
}

json milestone_view(const RunAnalysis& analysis, const Materials& materials, const ReportText& text) {
  const Run& run = *analysis.run;
  Anchors anchors;
  for (const char* section : {"top", "answer", "findings", "timeline", "evidence", "notes", "conclusion",
                              "setup", "reading", "chart-data"})
    (void)anchors.make(section);
  PageContext page{&materials, {}, &anchors};
  json answers = json::array(), families = json::array();
  for (const FamilyResult& family : analysis.families) {
    answers.push_back(answer_view(family, anchors));
    families.push_back(family_view(family, page));
    // A page about one family need not name it in every heading.
    families.back()["suffix"] = analysis.families.size() > 1 ? ": " + format::one_line(family.id) : "";
    answers.back()["suffix"] = families.back()["suffix"];
    for (const VariantResult& variant : family.variants) {
      for (const json& shown : families.back()["variants"]) {
        if (shown["id"] == format::one_line(variant.info.id))
          page.variants[variant.info.id] = shown["anchor"];
      }
    }
  }
  const json findings = finding_views(analysis.findings);
  const std::string title = text.title.empty()
                                ? fmt::format("{} on {}", family_names(analysis),
                                              format::elide(machine_name(run), longest_machine_name))
                                : format::one_line(text.title);
  return {{"title", title},
          {"author", format::one_line(text.author)},
          {"subtitle", subtitle(run)},
          {"command", format::command_line(run.command_line)},
          {"answers", answers},
          {"findings", findings},
          {"has_findings", !findings.empty()},
          {"setup", setup_views(run)},
          {"families", families},
          {"notes", notes_view(analysis, page)},
          {"timeline", timeline_view(analysis, materials.evidence, anchors)},
          {"evidence", evidence_view(analysis, materials.evidence, anchors)},
          {"glossary", glossary_view(run)}};
}

}  // namespace mprof
