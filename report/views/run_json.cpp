// SPDX-License-Identifier: MIT
#include "report/views/run_json.hpp"

#include <fmt/format.h>

#include "report/analysis/advice/advice.hpp"
#include "report/text/format.hpp"
#include "report/views/import_answer.hpp"
#include "report/views/json_parts.hpp"
#include "report/views/views.hpp"
#include "report/wording/findings.hpp"
#include "report/wording/why.hpp"

/// A run, and its brief, as data.
namespace mprof {
namespace {

using nlohmann::ordered_json;

ordered_json speed_up_json(const SpeedUp& speed_up) {
  ordered_json answer{{"factor", optional_json(speed_up.factor)}};
  if (!speed_up) {
    answer["absent"] = say(speed_up.absent);
    return answer;
  }
  answer["interval"] = interval_json(speed_up.interval);
  answer["verdict"] = to_string(speed_up.verdict);
  answer["reason"] = say(speed_up.reason);
  return answer;
}

ordered_json op_json(const OpResult& op) {
  return {{"op", op.info.name},
          {"op_time", value_json(op.op_time)},
          {"group_time", value_json(op.group_time)},
          {"compared_by", op.compared_by},
          {"speed_up", speed_up_json(op.speed_up)},
          {"verified", op.verification ? ordered_json(op.verification->passed) : ordered_json(nullptr)}};
}

ordered_json case_json(const CaseResult& result) {
  ordered_json ops = ordered_json::array();
  for (const OpResult& op : result.ops) ops.push_back(op_json(op));
  return {{"case", result.id},
          {"variant", result.key.variant},
          {"problem", problem_json(result.key.problem)},
          {"status", to_string(result.status)},
          {"reason", result.reason},
          {"baseline", result.baseline},
          {"total_time", value_json(result.total_time)},
          {"total_speed_up", speed_up_json(result.total_speed_up)},
          {"ops", std::move(ops)}};
}

ordered_json findings_json(const std::vector<Finding>& findings) {
  ordered_json list = ordered_json::array();
  for (const Finding& finding : findings)
    list.push_back({{"severity", to_string(finding.severity)}, {"text", text_of(finding)}});
  return list;
}

/// Adds [{ lead, text }], or [text] under a lead of their own.
void append(nlohmann::json& lines, const nlohmann::json& more, std::string_view lead = {}) {
  for (const nlohmann::json& line : more)
    lines.push_back(line.is_string() ? nlohmann::json{{"lead", lead}, {"text", line}} : line);
}

}  // namespace

ordered_json run_json(const Run& run, const std::string& path) {
  const RunAnalysis analysis = analyse(run);
  ordered_json cases = ordered_json::array();
  for (const FamilyResult& family : analysis.families) {
    for (const VariantResult& variant : family.variants) {
      for (const CaseResult& result : variant.cases) cases.push_back(case_json(result));
    }
  }
  return {{"run", path},
          {"state", to_string(run.state)},
          {"cases", std::move(cases)},
          {"findings", findings_json(analysis.findings)}};
}

nlohmann::json brief_lines(const FamilyResult& family, const PageContext& page) {
  nlohmann::json lines = nlohmann::json::array();
  const nlohmann::json program = program_view(family, page);
  const bool is_program = !program.is_boolean();
  if (is_program) append(lines, program["lines"]);
  const nlohmann::json programs = programs_view(family, page);
  const bool are_programs = is_program || !programs.is_boolean();
  if (!programs.is_boolean()) {
    append(lines, programs["changes"]);
    for (const nlohmann::json& screen : programs["screens"]) {
      for (const nlohmann::json& line : screen["lines"])
        lines.push_back({{"lead", fmt::format("{}: {}", screen["name"].get<std::string>(),
                                              line["lead"].get<std::string>())},
                         {"text", line["text"]}});
    }
  }
  if (const nlohmann::json brief = brief_view(family, brief_of(family), page); !brief.is_boolean()) {
    for (const char* part : {"best", "outlook", "right", "details"}) append(lines, brief[part]);
    append(lines, brief["notes"], "Note");
  }
  for (const ImportAnswer& one : import_answers(family, page.materials->evidence, are_programs))
    lines.push_back({{"lead", fmt::format("{}: {}", one.profile, one.about)}, {"text", one.text}});
  return lines;
}

ordered_json brief_json(const RunAnalysis& analysis, const Materials& materials) {
  const RunAdvice advice = advise(analysis, materials.evidence);
  PagePlan plan;
  const PageContext page{&materials, {}, &plan, &advice};
  ordered_json families = ordered_json::array();
  for (const FamilyResult& family : analysis.families) {
    ordered_json lines = ordered_json::array();
    for (const nlohmann::json& line : brief_lines(family, page))
      lines.push_back({{"lead", line["lead"]}, {"text", line["text"]}});
    families.push_back({{"family", family.id}, {"lines", std::move(lines)}});
  }
  return {{"brief", std::move(families)}, {"findings", findings_json(analysis.findings)}};
}

}  // namespace mprof
