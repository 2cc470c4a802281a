// SPDX-License-Identifier: MIT
#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "report/analysis/advice/advice.hpp"
#include "report/analysis/kernels/kernels.hpp"
#include "report/text/format.hpp"
#include "report/views/run_json.hpp"
#include "report/wording/findings.hpp"
#include "report/wording/judgement.hpp"
#include "serve/mcp/questions.hpp"
#include "serve/mcp/read_run.hpp"

/// The brief of a run: what its report says on the first page.
namespace mprof::mcp {
namespace {

constexpr std::size_t most_cases = 10, most_findings = 12;

/// "138 of 140 cases are ok, 2 skipped".
std::string counted_cases(const std::vector<FoundCase>& cases) {
  std::map<Status, std::size_t> by_status;
  for (const FoundCase& found : cases) ++by_status[found.result->status];
  const std::size_t ok = by_status[Status::ok];
  std::string text =
      fmt::format("{} of {} {} ok", ok, format::plural(cases.size(), "case"), ok == 1 ? "is" : "are");
  for (const auto& [status, count] : by_status) {
    if (status != Status::ok && count > 0) text += fmt::format(", {} {}", count, to_string(status));
  }
  return text;
}

/// The last is the whole at the largest problem, or an op of a family that has no time of the whole.
const Best* deciding(const FamilyResult& family) {
  for (auto best = family.best.rbegin(); best != family.best.rend(); ++best) {
    if (best->fastest != nullptr) return &*best;
  }
  return nullptr;
}

/// "; the fastest of conv is conv/banded_split@10000, 18.4 times as fast as conv/baseline@10000 (faster)". Of
/// one that is alone: "; program/train takes 10.33 s".
std::string fastest(const FamilyResult& family) {
  const Best* const best = deciding(family);
  if (best == nullptr || !is_plain(best->fastest->id) || !is_plain(family.id)) return {};
  if (family.has_one_configuration()) {
    const Value& time = best->fastest->total_time;
    return time
               ? fmt::format("; {} takes {}", best->fastest->id, format::quantity(time->median, Unit::second))
               : std::string();
  }
  std::string text = fmt::format("; the fastest of {} is {}", family.id, best->fastest->id);
  const SpeedUp& speed_up = best->speed_up();
  if (speed_up && is_plain(best->fastest->baseline))
    text += fmt::format(", {} as fast as {} ({})", format::times(*speed_up.factor), best->fastest->baseline,
                        verdict_text(speed_up));
  return text;
}

void add_family(Answer& answer, const FamilyResult& family, const PageContext& page) {
  std::size_t number_of = 0;
  for (const nlohmann::json& line : brief_lines(family, page)) {
    answer.add({{"key", key_of("answer", fmt::format("answer:{}:{}", family.id, ++number_of))},
                {"kind", "answer"},
                {"about", foreign(line["lead"].get<std::string>(), 96)},
                {"text", foreign(line["text"].get<std::string>(), 640)}});
  }
}

void add_findings(Answer& answer, const RunAnalysis& analysis) {
  std::size_t number = 0;
  for (const Finding& finding : analysis.findings) {
    if (number == most_findings) break;
    answer.add({{"key", fmt::format("finding:{}", ++number)},
                {"kind", "finding"},
                {"severity", to_string(finding.severity)},
                {"text", foreign(text_of(finding), 480)}});
  }
}

/// Times that can be compared come first, the shortest ones before others; then what went wrong.
void add_cases(Answer& answer, std::vector<FoundCase> cases) {
  const auto time_of = [](const FoundCase& found) { return found.result->compared_time(); };
  const auto problem_of = [](const FoundCase& found) { return found.result->key.problem; };
  std::ranges::stable_sort(cases, [&](const FoundCase& a, const FoundCase& b) {
    if (problem_of(a) != problem_of(b)) return problem_of(b) < problem_of(a);
    const auto left = time_of(a), right = time_of(b);
    return left.has_value() != right.has_value() ? left.has_value() : left && *left < *right;
  });
  if (cases.size() > most_cases) cases.resize(most_cases);
  for (const FoundCase& found : cases) {
    Json row{{"key", case_key(*found.result)},
             {"kind", "case"},
             {"case", foreign(found.result->id)},
             {"status", to_string(found.result->status)}};
    if (const auto time = found.result->compared_time()) row["ops_time"] = number(*time);
    add_value(row, "total_time", found.result->total_time);
    if (!found.result->is_baseline) add_speed_up(row, found.result->total_speed_up);
    answer.add(std::move(row));
  }
}

void lead_on(Answer& answer, const ReadRun& read) {
  const std::string& path = read.path();
  answer.lead_on("rows", {{"run", path}, {"table", "cases"}});
  for (const FamilyResult& family : read.analysis().families) {
    const Best* const best = deciding(family);
    const bool is_explained =
        best != nullptr && (!best->fastest->is_baseline || !kernels_of(*best->fastest->source).empty());
    if (!is_explained) continue;
    answer.lead_on("explain", {{"run", path}, {"case", case_key(*best->fastest)}});
    if (find_pass(*best->fastest->source, Pass::source) != nullptr)
      answer.lead_on("lines", {{"run", path}, {"case", case_key(*best->fastest)}});
    break;
  }
  if (read.materials().evidence.profile) answer.lead_on("rows", {{"run", path}, {"table", "kernels"}});
}

}  // namespace

Answer answer_summary(const Json& arguments) {
  const ReadRun read(arguments["run"].get<std::string>());
  Answer answer("summary", arguments);
  const std::vector<FoundCase> cases = read.cases();
  std::string sentence = counted_cases(cases);
  for (const FamilyResult& family : read.analysis().families) sentence += fastest(family);
  answer.say(sentence + ".");
  const RunAdvice advice = advise(read.analysis(), read.materials().evidence);
  PagePlan plan;
  const PageContext page{&read.materials(), {}, &plan, &advice};
  for (const FamilyResult& family : read.analysis().families) add_family(answer, family, page);
  add_findings(answer, read.analysis());
  add_cases(answer, cases);
  answer.mark_foreign({"about", "text", "case"});
  answer.set_units({{"ops_time", "s"}, {"total_time", "s"}, {"speed_up", "1"}});
  if (!read.materials().evidence.profile)
    answer.lack("a trace", read.materials().evidence.absent,
                "Measure with the trace pass on a machine with a GPU.");
  lack_passes(answer, read.run(), {Pass::counters, Pass::source});
  lead_on(answer, read);
  return answer;
}

}  // namespace mprof::mcp
