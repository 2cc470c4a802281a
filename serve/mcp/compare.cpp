// SPDX-License-Identifier: MIT
#include "report/analysis/judgement/compare.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "model/run_file.hpp"
#include "report/analysis/evidence.hpp"
#include "report/text/format.hpp"
#include "report/wording/comparison.hpp"
#include "report/wording/precision.hpp"
#include "report/wording/reasons.hpp"
#include "report/wording/why.hpp"
#include "serve/mcp/questions.hpp"
#include "serve/mcp/read_run.hpp"
#include "system/error.hpp"

/// Two runs: what got faster or slower, what is undecided, and what else differs.
namespace mprof::mcp {
namespace {

struct Side {
  Run run;
  ProgramPictures programs;
};

Side read_side(const std::string& path) {
  const OpenedDirectory directory(path);
  TracedRun read = read_traced_run(directory.path(), evidence_parts);
  Side side{.run = {}, .programs = program_pictures(read.run, read.trace)};
  side.run = std::move(read.run);
  return side;
}

Json time_row(const Comparison& comparison, const CaseComparison& c, const TimeComparison& time) {
  Json row{
      {"key", fmt::format("{}:{}:{}", key_of("case", c.id), time.op.empty() ? "total" : key_of("op", time.op),
                          time.kernel.empty() ? time.metric : kernel_key(time.metric, time.kernel))},
      {"kind", "time"},
      {"case", foreign(c.id)},
      {"what", foreign(compared_time(words_of(comparison, c), time))},
      {"metric", time.metric},
      {"verdict", to_string(time.speed_up.verdict)}};
  add_value(row, "before", time.a);
  add_value(row, "after", time.b);
  row["ratio"] = time.ratio ? number(*time.ratio) : Json(nullptr);
  if (const auto interval = time.speed_up.ratio_interval()) {
    row["ratio_low"] = number(interval->low);
    row["ratio_high"] = number(interval->high);
  }
  if (time.speed_up.no_change_above) row["no_change_above"] = number(*time.speed_up.no_change_above);
  if (!time.has_like_formats)
    row["formats"] =
        fmt::format("after in {}, before in {}", format_words(time.format_b), format_words(time.format_a));
  if (const std::string why = say(time.speed_up.reason, of_runs); !why.empty()) row["why"] = foreign(why);
  return row;
}

void add_case(Answer& answer, const Comparison& comparison, const CaseComparison& c) {
  for (const Regression& regression : c.regressions) {
    if (regression.kind == Worse::broken || regression.kind == Worse::quality ||
        regression.kind == Worse::lost)
      answer.add(
          {{"key", fmt::format("worse:{}:{}", key_of("case", c.id), static_cast<int>(regression.kind))},
           {"kind", "worse"},
           {"case", foreign(c.id)},
           {"text", foreign(regression_text(words_of(comparison, c), c, regression))}});
  }
  for (const TimeComparison& time : c.times) {
    if (!time.is_beside) answer.add(time_row(comparison, c, time));
  }
  constexpr std::size_t most_causes = 2;
  for (const OpChange& op : c.ops) {
    for (const Explanation& explanation : op.explanations) {
      for (std::size_t i = 0; i < explanation.reasons.size() && i < most_causes; ++i) {
        const Reason& reason = explanation.reasons[i];
        answer.add({{"key", fmt::format("cause:{}:{}:{}:{}", key_of("case", c.id), key_of("op", op.op),
                                        explanation.time, reason.rule->id)},
                    {"kind", "cause"},
                    {"case", foreign(c.id)},
                    {"what", foreign(op.op)},
                    {"rule", reason.rule->id},
                    {"text", foreign(sentence_of(reason, words_of(comparison, c)), 480)}});
      }
    }
  }
}

std::string counted(const Comparison& comparison) {
  std::vector<std::string> parts;
  for (const Verdict verdict : {Verdict::faster, Verdict::slower, Verdict::same, Verdict::inconclusive})
    parts.push_back(fmt::format("{} {}", comparison.count(verdict), to_string(verdict)));
  std::size_t unlike = 0;
  for (const CaseComparison& c : comparison.cases) {
    unlike += static_cast<std::size_t>(std::ranges::count_if(c.times, [](const TimeComparison& time) {
      return !time.has_like_formats && is_change(time.speed_up.verdict);
    }));
  }
  return fmt::format(
      "Of the times of {}, {}{}.{}", format::plural(comparison.cases.size(), "common case"),
      format::list(parts), comparison.regression() ? "; after has a regression" : "; after has no regression",
      unlike == 0 ? std::string()
                  : fmt::format(" {} of the faster and slower ones {} different number formats.", unlike,
                                unlike == 1 ? "compares" : "compare"));
}

}  // namespace

Answer answer_compare(const Json& arguments) {
  const std::string before_path = arguments["before"].get<std::string>();
  const std::string after_path = arguments["after"].get<std::string>();
  Answer answer("compare", arguments);
  const Side before = read_side(before_path);
  const Side after = read_side(after_path);
  CompareOptions options{.name_a = "before", .name_b = "after"};
  if (arguments.contains("of")) {
    options.pairing.of = arguments["of"].get<std::string>();
    options.pairing.with = arguments.value("with", options.pairing.of);
  }
  const auto lead_on = [&] {
    answer.lead_on("summary", {{"run", after_path}});
    if (before_path != after_path) answer.lead_on("summary", {{"run", before_path}});
  };
  try {
    Comparison comparison = compare(before.run, after.run, options);
    add_program_changes(comparison, before.programs, after.programs);
    answer.say(counted(comparison));
    for (const CaseComparison* const c : comparison.by_importance()) add_case(answer, comparison, *c);
    std::size_t number_of = 0;
    for (const Unlike& unlike : comparison.unlike)
      answer.add({{"key", fmt::format("condition:{}", ++number_of)},
                  {"kind", "condition"},
                  {"text", foreign(unlike_text(unlike))}});
    for (const std::string& note : comparison.notes)
      answer.add({{"key", fmt::format("condition:{}", ++number_of)},
                  {"kind", "condition"},
                  {"text", foreign(note)}});
    for (const auto& [side, ids] :
         {std::pair{"before", &comparison.only_in_a}, std::pair{"after", &comparison.only_in_b}}) {
      if (!ids->empty())
        answer.lack(fmt::format("{} that {} alone has", format::plural(ids->size(), "case"), side),
                    fmt::format("such as {}", foreign(ids->front(), 96)),
                    "Measure the same variants at the same problems on both sides.");
    }
    answer.set_units({{"before", "s"}, {"after", "s"}, {"ratio", "1"}, {"no_change_above", "1"}});
    answer.mark_foreign({"case", "what", "why", "formats", "text"});
  } catch (const Error& error) {
    if (error.code() != ExitCode::incomparable) throw;
    answer.say("The two runs cannot be compared.");
    answer.lack("verdicts", error.what(),
                "Measure the same variants and problems on one machine. To compare two variants, name them: "
                "of one of before, with one of after.");
    answer.mark_foreign({});
  }
  lead_on();
  return answer;
}

}  // namespace mprof::mcp
