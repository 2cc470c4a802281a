// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>

#include <fmt/format.h>

#include "model/metric.hpp"
#include "model/metric_presets.hpp"
#include "report/analysis/kernels/hot_lines.hpp"
#include "report/text/format.hpp"
#include "report/trace/profile_tables.hpp"
#include "report/wording/findings.hpp"
#include "report/wording/why.hpp"
#include "serve/mcp/questions.hpp"
#include "serve/mcp/read_run.hpp"

/// Tables of a run: what `mprof export` writes, and what `mprof stats` prints.
namespace mprof::mcp {
namespace {

/// What is asked of a table.
struct Asked {
  const ReadRun& read;
  std::optional<FoundCase> only{};
  Answer& answer;

  [[nodiscard]] std::vector<FoundCase> cases() const {
    return only ? std::vector<FoundCase>{*only} : read.cases();
  }
};

void add_cases(const Asked& asked) {
  for (const FoundCase& found : asked.cases()) {
    const CaseResult& result = *found.result;
    Json row{{"key", case_key(result)},
             {"case", foreign(result.id)},
             {"variant", foreign(result.key.variant)},
             {"problem", foreign(found.family->words.in_full(result.key.problem))},
             {"status", to_string(result.status)}};
    if (!result.reason.empty()) row["reason"] = foreign(result.reason);
    if (const auto time = result.compared_time()) row["ops_time"] = number(*time);
    add_value(row, "total_time", result.total_time);
    row["baseline"] = result.baseline.empty() ? Json(nullptr) : Json(foreign(result.baseline));
    if (!result.is_baseline) add_speed_up(row, result.total_speed_up);
    asked.answer.add(std::move(row));
  }
  asked.answer.set_units({{"ops_time", "s"}, {"total_time", "s"}, {"speed_up", "1"}});
  asked.answer.mark_foreign({"case", "variant", "problem", "reason", "baseline"});
}

void add_ops(const Asked& asked) {
  for (const FoundCase& found : asked.cases()) {
    for (const OpResult& op : found.result->ops) {
      Json row{{"key", fmt::format("{}:{}", case_key(*found.result), key_of("op", op.info.name))},
               {"case", case_key(*found.result)},
               {"op", foreign(op.info.name)},
               {"status", to_string(found.result->status)}};
      add_value(row, "op_time", op.op_time);
      add_value(row, "group_time", op.group_time);
      add_value(row, "gpu_time", op.gpu_time);
      row["compared_by"] = op.compared_by;
      if (!found.result->is_baseline) add_speed_up(row, op.speed_up);
      if (op.of_possible) row["of_possible"] = number(op.of_possible->median);
      if (op.limit) row["limit"] = short_name(*op.limit);
      if (op.verification) {
        row["verified"] = op.verification->passed;
        row["relative_l2"] = number(op.verification->relative_l2);
        row["tolerance"] = number(op.verification->tolerance);
      }
      asked.answer.add(std::move(row));
    }
  }
  asked.answer.set_units(
      {{"op_time", "s"}, {"group_time", "s"}, {"gpu_time", "s"}, {"speed_up", "1"}, {"of_possible", "%"}});
  asked.answer.mark_foreign({"op"});
}

Json cell_json(const ProfileCell& cell, const ProfileColumn& column) {
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return *whole;
  if (const auto* real = std::get_if<double>(&cell)) return number(format::rounded(*real, column.decimals));
  if (const auto* words = std::get_if<std::string>(&cell)) return foreign(*words);
  return nullptr;
}

/// A table of nsys stats, its columns as mprof stats --json calls them.
void add_profile(const Asked& asked, std::string_view report, std::string_view measure = {}) {
  const Evidence& evidence = asked.read.materials().evidence;
  if (!evidence.profile) {
    asked.answer.lack("a trace", evidence.absent, "Measure with the trace pass on a machine with a GPU.");
    return;
  }
  ProfileScope scope;
  if (asked.only) {
    const auto indices = trace::case_indices(*evidence.profile);
    const auto found = indices.find(asked.only->result->id);
    if (found == indices.end()) {
      asked.answer.lack("a trace of this case", "the trace does not hold it",
                        "Leave case out, or name a case that was traced.");
      return;
    }
    scope.only = found->second;
  }
  const ProfileTable table = profile_report(report).table(*evidence.profile, scope);
  std::set<std::string> foreign_columns;
  for (std::size_t i = 0; i < table.rows; ++i) {
    const ProfileRow cells = table.row(i);
    Json row{{"key", ""}};
    if (!measure.empty()) row["measure"] = measure;
    std::string name;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const ProfileColumn& column = table.columns[c];
      row[column.title()] = cell_json(cells[c], column);
      if (!column.words) continue;
      if (const auto* words = std::get_if<std::string>(&cells[c])) name += *words + " ";
      foreign_columns.insert(column.title());
    }
    row["key"] = key_of(std::string(report), fmt::format("{} {}", measure, name));
    asked.answer.add(std::move(row));
  }
  asked.answer.mark_foreign({foreign_columns.begin(), foreign_columns.end()});
}

void add_transfers(const Asked& asked) {
  add_profile(asked, "cuda_gpu_mem_time_sum", "time");
  if (asked.read.materials().evidence.profile) add_profile(asked, "cuda_gpu_mem_size_sum", "size");
}

std::string unit_text(std::string_view metric) {
  const std::optional<Unit> unit = unit_of_metric(metric);
  return unit ? std::string(unit_symbol(*unit)) : "";
}

void add_counters(const Asked& asked) {
  for (const FoundCase& found : asked.cases()) {
    const std::vector<KernelCounters> kernels = kernels_of(*found.result->source);
    if (kernels.empty() && asked.only) {
      asked.answer.lack("counters", say(why_not_counted(*found.result->source)),
                        "Measure with the counters pass.");
    }
    for (const KernelCounters& kernel : kernels) {
      for (const auto& [metric, value] : kernel.values) {
        Json row{{"key", fmt::format("{}:{}:{}", case_key(*found.result),
                                     kernel_key(kernel.op, kernel.kernel), key_of("metric", metric))},
                 {"case", case_key(*found.result)},
                 {"op", foreign(kernel.op)},
                 {"kernel", kernel_key(kernel.op, kernel.kernel)},
                 {"name", foreign(kernel.kernel, 96)},
                 {"metric", foreign(metric)},
                 {"unit", unit_text(metric)}};
        row["value"] = value ? number(value->median) : Json(nullptr);
        if (!value) row["value_absent"] = foreign(say(value.absent));
        asked.answer.add(std::move(row));
      }
    }
  }
  asked.answer.mark_foreign({"op", "name", "metric"});
  lack_passes(asked.answer, asked.read.run(), {Pass::counters});
}

void add_lines(const Asked& asked) {
  for (const FoundCase& found : asked.cases()) {
    for (const HotLines& op : hot_lines_of(*found.result->source)) {
      for (const HotLine& hot : op.lines) {
        const std::string kernel = kernel_key(op.op, hot.line->kernel);
        asked.answer.add({{"key", fmt::format("{}:{}:{}:{}", case_key(*found.result), kernel,
                                              key_of("file", hot.line->file), hot.line->line)},
                          {"case", case_key(*found.result)},
                          {"op", foreign(op.op)},
                          {"kernel", kernel},
                          {"file", foreign(hot.line->file)},
                          {"line", hot.line->line},
                          {"share", number(hot.share)},
                          {"issued", number(hot.issued)},
                          {"waits_for", foreign(hot.most_frequent.reason)},
                          {"waits_share", number(hot.most_frequent.share)}});
      }
    }
  }
  asked.answer.set_units({{"share", "1"}, {"issued", "1"}, {"waits_share", "1"}});
  asked.answer.mark_foreign({"op", "file", "waits_for"});
  lack_passes(asked.answer, asked.read.run(), {Pass::source});
}

void add_findings(const Asked& asked) {
  std::size_t number_of = 0;
  for (const Finding& finding : asked.read.analysis().findings) {
    const std::string key = fmt::format("finding:{}", ++number_of);
    asked.answer.add(
        {{"key", key}, {"severity", to_string(finding.severity)}, {"text", foreign(text_of(finding), 480)}});
    std::size_t detail_of = 0;
    for (const Finding& detail : finding.details)
      asked.answer.add({{"key", fmt::format("{}.{}", key, ++detail_of)},
                        {"severity", to_string(detail.severity)},
                        {"text", foreign(text_of(detail), 480)}});
  }
  asked.answer.mark_foreign({"text"});
}

struct Table {
  std::string_view name;
  void (*add)(const Asked& asked);
};
constexpr std::array tables{
    Table{"cases", add_cases},
    Table{"ops", add_ops},
    Table{"kernels", [](const Asked& asked) { add_profile(asked, "cuda_gpu_kern_sum"); }},
    Table{"transfers", add_transfers},
    Table{"api", [](const Asked& asked) { add_profile(asked, "cuda_api_sum"); }},
    Table{"ranges", [](const Asked& asked) { add_profile(asked, "nvtx_pushpop_sum"); }},
    Table{"counters", add_counters},
    Table{"lines", add_lines},
    Table{"findings", add_findings},
};

std::vector<std::string> columns_of(const std::vector<Json>& rows) {
  std::vector<std::string> columns;
  for (const Json& row : rows) {
    for (const auto& [name, value] : row.items()) {
      if (std::ranges::find(columns, name) == columns.end()) columns.push_back(name);
    }
  }
  return columns;
}

void require_columns(const std::vector<std::string>& known, const std::vector<std::string>& asked) {
  for (const std::string& name : asked) {
    if (std::ranges::find(known, name) == known.end())
      throw Trouble("bad_argument", fmt::format("The table has no column '{}'.", foreign(name, 64)),
                    fmt::format("Its columns are {}.", fmt::join(known, ", ")));
  }
}

/// By a column, "-" before it for the largest first. Rows without it come last.
void order(std::vector<Json>& rows, std::string by) {
  const bool descends = by.starts_with('-');
  if (descends) by.erase(0, 1);
  require_columns(columns_of(rows), {by});
  const auto has = [&](const Json& row) { return row.contains(by) && !row[by].is_null(); };
  std::ranges::stable_sort(rows, [&](const Json& a, const Json& b) {
    if (!has(a) || !has(b)) return has(a) && !has(b);
    return descends ? b[by] < a[by] : a[by] < b[by];
  });
}

void choose_columns(std::vector<Json>& rows, const std::vector<std::string>& chosen) {
  require_columns(columns_of(rows), chosen);
  for (Json& row : rows) {
    Json fewer{{"key", row["key"]}};
    for (const std::string& name : chosen) {
      if (row.contains(name)) fewer[name] = row[name];
    }
    row = std::move(fewer);
  }
}

}  // namespace

Answer answer_rows(const Json& arguments) {
  const ReadRun read(arguments["run"].get<std::string>());
  Answer answer("rows", arguments);
  Asked asked{read, std::nullopt, answer};
  if (arguments.contains("case")) asked.only = read.find(arguments["case"].get<std::string>());
  const std::string name = arguments["table"].get<std::string>();
  std::ranges::find(tables, name, &Table::name)->add(asked);
  if (!answer.rows().empty()) {
    if (arguments.contains("order")) order(answer.rows(), arguments["order"].get<std::string>());
    if (arguments.contains("columns"))
      choose_columns(answer.rows(), arguments["columns"].get<std::vector<std::string>>());
  }
  answer.say(fmt::format("The table {} has {}{}.", name, format::plural(answer.rows().size(), "row"),
                         asked.only ? " for this case" : ""));
  if (name != "cases") answer.lead_on("rows", {{"run", read.path()}, {"table", "cases"}});
  return answer;
}

}  // namespace mprof::mcp
