// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

#include "model/metric.hpp"
#include "model/metric_presets.hpp"
#include "report/export/csv_columns.hpp"
#include "report/export/export.hpp"
#include "report/wording/judgement.hpp"
#include "report/wording/why.hpp"

/// The tables of a run for pandas: one row for each case, op, measurement and sample.
namespace mprof {
namespace {

namespace fs = std::filesystem;

constexpr const char* cases_file = "cases.csv";
constexpr const char* ops_file = "ops.csv";
constexpr const char* measurements_file = "measurements.csv";
constexpr const char* samples_file = "samples.csv";

/// The columns by which every table of a run knows a case. An axis that the case's family does not have is
/// empty.
template <class Row>
CsvColumns<Row> case_columns(const std::vector<std::string>& axes) {
  CsvColumns<Row> columns{
      {"case", "id of the case", [](auto& table, auto& row) { table.text(row.result->id); }},
      {"variant", "id of its variant", [](auto& table, auto& row) { table.text(row.result->key.variant); }},
      {"parameters", "values of the variant's parameters: `a=1;b=2`",
       [](auto& table, auto& row) { table.text(parameters_text(row.result->key)); }},
  };
  for (const std::string& axis : axes) {
    columns.push_back({axis, "value of the problem on this axis", [axis](auto& table, auto& row) {
                         const auto value = value_on(row.result->key.problem, axis);
                         value ? table.number(static_cast<std::int64_t>(*value)) : table.nothing();
                       }});
  }
  return columns;
}

/// What the columns of a value are called.
struct ValueHeads {
  std::string median, low, high, n, absent;
};
ValueHeads heads_of(const std::string& name) {
  return {name, name + "_low", name + "_high", name + "_n", name + "_absent"};
}

template <class Row, class Get>
CsvColumns<Row> value_columns(const ValueHeads& heads, std::string_view meaning, const Get& get) {
  const auto bound = [get](double Interval::*end) {
    return [get, end](auto& table, auto& row) {
      const Value& value = get(row);
      value && value->interval ? table.number((*value->interval).*end) : table.nothing();
    };
  };
  return {
      {heads.median, meaning,
       [get](auto& table, auto& row) {
         const Value& value = get(row);
         value ? table.number(value->median) : table.nothing();
       }},
      {heads.low, "", bound(&Interval::low)},
      {heads.high, "", bound(&Interval::high)},
      {heads.n, "",
       [get](auto& table, auto& row) {
         const Value& value = get(row);
         table.number(value ? static_cast<std::int64_t>(value->samples) : 0);
       }},
      {heads.absent, "",
       [get](auto& table, auto& row) {
         const Value& value = get(row);
         value ? table.nothing() : table.text(say(value.absent));
       }},
  };
}

template <class Row, class Get>
CsvColumns<Row> speed_up_columns(const std::string& name, std::string_view meaning, const Get& get) {
  const auto bound = [get](double Interval::*end) {
    return [get, end](auto& table, auto& row) {
      const SpeedUp& speed_up = get(row);
      speed_up.interval ? table.number((*speed_up.interval).*end) : table.nothing();
    };
  };
  return {
      {name, meaning, [get](auto& table, auto& row) { table.number(get(row).factor); }},
      {name + "_low", "", bound(&Interval::low)},
      {name + "_high", "", bound(&Interval::high)},
      {name + "_absent", "",
       [get](auto& table, auto& row) {
         const SpeedUp& speed_up = get(row);
         table.text(speed_up ? "" : say(speed_up.absent));
       }},
  };
}

/// All verifications of a case as one: a failed one decides.
std::string_view verification_of_case(const CaseResult& result) {
  bool any = false;
  for (const OpResult& op : result.ops) {
    if (op.verification && !op.verification->passed) return verification_word(op.verification);
    any = any || op.verification.has_value();
  }
  return any ? "passed" : "not verified";
}

/// Of the op with the largest relative error; empty where nothing was verified.
std::string precision_of_case(const CaseResult& result, std::string Verification::*member) {
  const Verification* worst = nullptr;
  for (const OpResult& op : result.ops) {
    if (op.verification && (worst == nullptr || op.verification->relative_l2 > worst->relative_l2))
      worst = &*op.verification;
  }
  return worst == nullptr ? std::string() : worst->*member;
}

/// The qualities of all families of the run, each metric once.
std::vector<std::string> quality_metrics(const ExportScope& scope) {
  std::vector<std::string> metrics;
  for (const FamilyResult& family : scope.analysis->families) {
    for (const QualityInfo& quality : family.info.qualities) {
      if (std::ranges::find(metrics, quality.metric) == metrics.end()) metrics.push_back(quality.metric);
    }
  }
  return metrics;
}

const QualityResult* find_quality(const CaseResult& result, std::string_view metric) {
  const auto found = std::ranges::find_if(
      result.qualities, [&](const QualityResult& quality) { return quality.info->metric == metric; });
  return found == result.qualities.end() ? nullptr : &*found;
}

struct CaseRow {
  const CaseResult* result = nullptr;
};

CsvColumns<CaseRow> pass_columns(Pass pass) {
  const std::string name(to_string(pass));
  return {
      {name, "how this pass ended; `absent`: there was none",
       [pass](auto& table, auto& row) {
         const PassResult* const found = find_pass(*row.result->source, pass);
         table.text(found == nullptr ? "absent" : to_string(found->status));
       }},
      {name + "_reason", "",
       [pass](auto& table, auto& row) {
         const PassResult* const found = find_pass(*row.result->source, pass);
         table.text(found == nullptr ? fmt::format("the run had no {} pass for it", to_string(pass))
                                     : found->reason);
       }},
  };
}

CsvColumns<CaseRow> quality_columns(const std::string& metric) {
  constexpr std::string_view none = "its family has no such quality";
  const auto column = [&](const char* suffix, std::string_view meaning, const auto& write) {
    return CsvColumn<CaseRow>{metric + suffix, meaning, [metric, write](auto& table, auto& row) {
                                write(table, *row.result, find_quality(*row.result, metric));
                              }};
  };
  return {
      column("", "a quality of the families in the run, under the name of its metric",
             [](CsvFile& table, const CaseResult&, const QualityResult* quality) {
               table.number(quality != nullptr && quality->value ? std::optional(quality->value->median)
                                                                 : std::nullopt);
             }),
      column("_absent", "",
             [none](CsvFile& table, const CaseResult&, const QualityResult* quality) {
               table.text(quality == nullptr ? none : quality->value ? "" : say(quality->value.absent));
             }),
      column("_change", "the value minus the baseline's",
             [](CsvFile& table, const CaseResult&, const QualityResult* quality) {
               table.number(quality != nullptr ? quality->change : std::nullopt);
             }),
      column("_change_absent", "",
             [none](CsvFile& table, const CaseResult& result, const QualityResult* quality) {
               table.text(quality == nullptr ? std::string(none) : why_no_change(result, *quality));
             }),
  };
}

CsvColumns<CaseRow> cases_columns(const std::vector<std::string>& axes,
                                  const std::vector<std::string>& qualities) {
  CsvColumns<CaseRow> columns = case_columns<CaseRow>(axes);
  append(
      columns,
      {
          {"status",
           "`ok`, `wrong`, `suspect`, `skipped`, `failed`, `crashed`, `timeout`, `interrupted` or `pending`",
           [](auto& table, auto& row) { table.text(to_string(row.result->status)); }},
          {"reason", "why the status is not `ok`",
           [](auto& table, auto& row) { table.text(row.result->reason); }},
          {"is_baseline", "whether its variant is compared with no other",
           [](auto& table, auto& row) { table.flag(row.result->is_baseline); }},
          {"baseline", "the case that it is compared with",
           [](auto& table, auto& row) { table.text(row.result->baseline); }},
          {"verification", "`passed`, `failed` or `not verified`, of all ops together",
           [](auto& table, auto& row) { table.text(verification_of_case(*row.result)); }},
          {"precision", "the [number format](#opscsv-a-row-for-each-op-of-each-case) of its least exact op",
           [](auto& table, auto& row) {
             table.text(precision_of_case(*row.result, &Verification::precision));
           }},
          {"declared_precision", "what `--precision` said; empty: nothing",
           [](auto& table, auto& row) {
             table.text(precision_of_case(*row.result, &Verification::declared_precision));
           }},
      });
  append(columns,
         value_columns<CaseRow>(heads_of("total_time"), "time of one execution from input to output",
                                [](const CaseRow& row) -> const Value& { return row.result->total_time; }));
  append(columns, speed_up_columns<CaseRow>(
                      "total_speed_up", "speed-up in that time over the baseline",
                      [](const CaseRow& row) -> const SpeedUp& { return row.result->total_speed_up; }));
  for (const Pass pass : {Pass::timing, Pass::trace, Pass::counters, Pass::source})
    append(columns, pass_columns(pass));
  for (const std::string& metric : qualities) append(columns, quality_columns(metric));
  return columns;
}

fs::path write_cases(const ExportScope& scope, const fs::path& path) {
  CsvTable<CaseRow> table(path, cases_columns(scope.axes, quality_metrics(scope)));
  for (const CaseResult* result : scope.cases) table.add({result});
  table.commit();
  return path;
}

struct OpRow {
  const CaseResult* result = nullptr;
  const OpResult* op = nullptr;
  SpeedUp gpu_speed_up{};
};

constexpr std::string_view precision_meaning =
    "the lower number format that explains the error of each element: `fp16/tf32`, `fp16/bf16` or `bf16`; "
    "empty: none was needed or found";

/// A member of an op's verification; empty where the output was not verified.
template <class Member>
CsvColumn<OpRow> verification_column(const char* head, std::string_view meaning,
                                     Member Verification::*member) {
  return {head, meaning, [member](auto& table, auto& row) {
            if (!row.op->verification) {
              table.nothing();
              return;
            }
            const Member& value = (*row.op->verification).*member;
            if constexpr (std::is_same_v<Member, std::string>) {
              table.text(value);
            } else {
              table.number(std::optional(value));
            }
          }};
}

CsvColumns<OpRow> ops_columns(const std::vector<std::string>& axes) {
  CsvColumns<OpRow> columns = case_columns<OpRow>(axes);
  append(columns, {
                      {"op", "name of the op", [](auto& table, auto& row) { table.text(row.op->info.name); }},
                      {"status", "status of the case",
                       [](auto& table, auto& row) { table.text(to_string(row.result->status)); }},
                  });
  const auto value = [&](const char* name, std::string_view meaning, Value OpResult::*member) {
    append(columns, value_columns<OpRow>(heads_of(name), meaning, [member](const OpRow& row) -> const Value& {
             return row.op->*member;
           }));
  };
  value("op_time", "time of `forward()`: device time on a GPU", &OpResult::op_time);
  value("group_time", "host time of the op's three stages", &OpResult::group_time);
  value("gpu_time", "union of the times of its kernels in the trace", &OpResult::gpu_time);
  append(columns,
         {
             {"outside_forward",
              "`op_time` is no measure of the kernels: the work happens elsewhere, or [copies are in "
              "it](#copies-in-an-op-time)",
              [](auto& table, auto& row) { table.flag(row.op->flaw != OpTimeFlaw::none); }},
             {"compared_by", "the time that `speed_up` compares",
              [](auto& table, auto& row) { table.text(row.op->compared_by); }},
             {"baseline", "the case that it is compared with",
              [](auto& table, auto& row) { table.text(row.result->baseline); }},
         });
  append(columns,
         speed_up_columns<OpRow>("speed_up", "speed-up in `compared_by` over the baseline",
                                 [](const OpRow& row) -> const SpeedUp& { return row.op->speed_up; }));
  append(columns,
         speed_up_columns<OpRow>("gpu_speed_up", "speed-up in `gpu_time` over the baseline",
                                 [](const OpRow& row) -> const SpeedUp& { return row.gpu_speed_up; }));
  append(
      columns,
      {
          {"verification", "`passed`, `failed` or `not verified`; then the following are empty",
           [](auto& table, auto& row) { table.text(verification_word(row.op->verification)); }},
          verification_column("relative_l2", "‖out − ref‖ / ‖ref‖ of the worst item",
                              &Verification::relative_l2),
          verification_column("tolerance", "the largest `relative_l2` that passes", &Verification::tolerance),
          verification_column("max_error", "largest absolute difference of an element",
                              &Verification::max_error),
          verification_column("non_finite", "number of elements that are NaN or infinite",
                              &Verification::non_finite),
          verification_column("never_written", "number of elements that the variant left as they were",
                              &Verification::never_written),
          verification_column("finding", "what was wrong, in a sentence", &Verification::finding),
          verification_column("precision", precision_meaning, &Verification::precision),
          verification_column("declared_precision", "what `--precision` said; empty: nothing",
                              &Verification::declared_precision),
      });
  return columns;
}

fs::path write_ops(const ExportScope& scope, const fs::path& path) {
  CsvTable<OpRow> table(path, ops_columns(scope.axes));
  for (const CaseResult* result : scope.cases) {
    for (const OpResult& op : result->ops) table.add({result, &op, gpu_speed_up_of(op)});
  }
  table.commit();
  return path;
}

struct MeasurementRow {
  const CaseResult* result = nullptr;
  const PassResult* pass = nullptr;
  const Measurement* measurement = nullptr;
  Value value{};
  std::size_t sample = 0;
};

/// Calls visit(row) for every measurement of the scope.
template <class Visit>
void for_each_measurement(const ExportScope& scope, const Visit& visit) {
  for (const CaseResult* result : scope.cases) {
    for (const PassResult& pass : result->source->passes) {
      for (const Measurement& measurement : pass.measurements)
        visit(MeasurementRow{.result = result, .pass = &pass, .measurement = &measurement});
    }
  }
}

/// Of a quality of the case's family, or of a metric; empty where it is not known.
std::string_view unit_of(const CaseResult& result, std::string_view metric) {
  if (const QualityResult* const quality = find_quality(result, metric))
    return unit_symbol(quality->info->unit);
  const std::optional<Unit> unit = unit_of_metric(metric);
  return unit ? unit_symbol(*unit) : "";
}

/// What a measurement is of.
CsvColumns<MeasurementRow> subject_columns(const std::vector<std::string>& axes) {
  CsvColumns<MeasurementRow> columns = case_columns<MeasurementRow>(axes);
  append(
      columns,
      {
          {"pass", "the pass that made it",
           [](auto& table, auto& row) { table.text(to_string(row.pass->pass)); }},
          {"status", "how the pass ended",
           [](auto& table, auto& row) { table.text(to_string(row.pass->status)); }},
          {"op", "empty: the whole case", [](auto& table, auto& row) { table.text(row.measurement->op); }},
          {"kernel", "empty: the whole op",
           [](auto& table, auto& row) { table.text(row.measurement->kernel); }},
          {"metric", "a row of mprof's catalogue, a quality of the family, or a metric of Nsight Compute",
           [](auto& table, auto& row) { table.text(row.measurement->metric); }},
          {"unit", "empty: not known",
           [](auto& table, auto& row) { table.text(unit_of(*row.result, row.measurement->metric)); }},
          {"source",
           "`measured`; `modelled`: computed from FLOPs, bytes and peaks; `printed`: read from the program's "
           "output",
           [](auto& table, auto& row) { table.text(to_string(row.measurement->source)); }},
      });
  return columns;
}

CsvColumns<MeasurementRow> measurements_columns(const std::vector<std::string>& axes) {
  CsvColumns<MeasurementRow> columns = subject_columns(axes);
  append(
      columns,
      value_columns<MeasurementRow>(
          {"median", "low", "high", "n", "absent"},
          "the median of its samples, its 95 % interval, their number, and the reason for a missing median",
          [](const MeasurementRow& row) -> const Value& { return row.value; }));
  append(columns,
         {{"interval_absent", "why there is a median without an interval", [](auto& table, auto& row) {
             const bool has_all = !row.value || row.value->interval;
             table.text(has_all ? "" : no_interval(*row.value));
           }}});
  return columns;
}

CsvColumns<MeasurementRow> samples_columns(const std::vector<std::string>& axes) {
  CsvColumns<MeasurementRow> columns = subject_columns(axes);
  append(columns, {
                      {"sample", "its number, from 0, in the order taken",
                       [](auto& table, auto& row) { table.number(static_cast<std::int64_t>(row.sample)); }},
                      {"value", "in the unit of the measurement",
                       [](auto& table, auto& row) { table.number(row.measurement->samples[row.sample]); }},
                  });
  return columns;
}

fs::path write_measurements(const ExportScope& scope, const fs::path& path) {
  CsvTable<MeasurementRow> table(path, measurements_columns(scope.axes));
  for_each_measurement(scope, [&](MeasurementRow row) {
    row.value = value_of(*row.measurement);
    table.add(row);
  });
  table.commit();
  return path;
}

fs::path write_samples(const ExportScope& scope, const fs::path& path) {
  CsvTable<MeasurementRow> table(path, samples_columns(scope.axes));
  for_each_measurement(scope, [&](MeasurementRow row) {
    for (row.sample = 0; row.sample < row.measurement->samples.size(); ++row.sample) table.add(row);
  });
  table.commit();
  return path;
}

}  // namespace

std::vector<fs::path> write_run_tables(const ExportScope& scope, const fs::path& directory) {
  return {write_cases(scope, directory / cases_file), write_ops(scope, directory / ops_file),
          write_measurements(scope, directory / measurements_file),
          write_samples(scope, directory / samples_file)};
}

std::string run_tables_as_markdown() {
  const std::vector<std::string> axes, qualities{"QUALITY"};
  return columns_as_markdown(cases_file, "each case", cases_columns(axes, qualities)) +
         columns_as_markdown(ops_file, "each op of each case", ops_columns(axes)) +
         columns_as_markdown(measurements_file, "each measurement", measurements_columns(axes)) +
         columns_as_markdown(samples_file, "each sample", samples_columns(axes));
}

}  // namespace mprof
