// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/metric.hpp"
#include "model/trace/nsys_schema.hpp"
#include "report/export/export.hpp"
#include "report/text/csv.hpp"
#include "report/text/format.hpp"
#include "report/wording/judgement.hpp"
#include "report/wording/why.hpp"

/// The tables for pandas: one row for each case, op, measurement, sample, kernel, transfer and API call.
namespace mprof {
namespace {

namespace fs = std::filesystem;
using trace::Trace;

constexpr const char* cases_file = "cases.csv";
constexpr const char* ops_file = "ops.csv";
constexpr const char* measurements_file = "measurements.csv";
constexpr const char* samples_file = "samples.csv";
constexpr const char* kernels_file = "kernels.csv";
constexpr const char* transfers_file = "transfers.csv";
constexpr const char* calls_file = "api_calls.csv";

/// "tile_width=16;section=1000": without a comma, so that tools which know nothing of quotes find the
/// columns.
std::string parameters_text(const CaseKey& key) {
  std::string text;
  for (const auto& [name, value] : key.parameters)
    text += fmt::format("{}{}={}", text.empty() ? "" : ";", name, value);
  return text;
}

/// A column of a table, and what a row has in it.
template <class Row>
struct CsvColumn {
  std::string head;
  std::string_view meaning;  ///< for the documentation; empty: it belongs to the column before it
  std::function<void(CsvFile& table, const Row& row)> write;
};
template <class Row>
using CsvColumns = std::vector<CsvColumn<Row>>;

template <class Row>
void add(CsvColumns<Row>& columns, CsvColumns<Row> more) {
  std::ranges::move(more, std::back_inserter(columns));
}

/// A table that is written row by row.
template <class Row>
class CsvTable {
 public:
  CsvTable(const fs::path& path, CsvColumns<Row> columns)
      : columns_(std::move(columns)), file_(path, heads(columns_)) {}

  void add(const Row& row) {
    for (const CsvColumn<Row>& column : columns_) column.write(file_, row);
    file_.end_row();
  }
  void commit() { file_.commit(); }

 private:
  static std::vector<std::string> heads(const CsvColumns<Row>& columns) {
    std::vector<std::string> all;
    for (const CsvColumn<Row>& column : columns) all.push_back(column.head);
    return all;
  }

  CsvColumns<Row> columns_;
  CsvFile file_;
};

/// The columns by which every table of a run knows a case. An axis that the case's family does not have is
/// empty.
template <class Row>
CsvColumns<Row> case_columns(const std::vector<std::string>& axes) {
  CsvColumns<Row> columns{
      {"case", "id of the case", [](auto& table, auto& row) { table.text(row.result->id); }},
      {"variant", "id of its variant", [](auto& table, auto& row) { table.text(row.result->key.variant); }},
      {"parameters", "values of the variant's parameters, as a JSON object",
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
  add(columns,
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
      });
  add(columns,
      value_columns<CaseRow>(heads_of("total_time"), "time of one execution from input to output",
                             [](const CaseRow& row) -> const Value& { return row.result->total_time; }));
  add(columns, speed_up_columns<CaseRow>(
                   "total_speed_up", "speed-up in that time over the baseline",
                   [](const CaseRow& row) -> const SpeedUp& { return row.result->total_speed_up; }));
  for (const Pass pass : {Pass::timing, Pass::trace, Pass::counters, Pass::source})
    add(columns, pass_columns(pass));
  for (const std::string& metric : qualities) add(columns, quality_columns(metric));
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
  add(columns, {
                   {"op", "name of the op", [](auto& table, auto& row) { table.text(row.op->info.name); }},
                   {"status", "status of the case",
                    [](auto& table, auto& row) { table.text(to_string(row.result->status)); }},
               });
  const auto value = [&](const char* name, std::string_view meaning, Value OpResult::*member) {
    add(columns, value_columns<OpRow>(heads_of(name), meaning, [member](const OpRow& row) -> const Value& {
          return row.op->*member;
        }));
  };
  value("op_time", "time of `forward()`: device time on a GPU", &OpResult::op_time);
  value("group_time", "host time of the op's three stages", &OpResult::group_time);
  value("gpu_time", "union of the times of its kernels in the trace", &OpResult::gpu_time);
  add(columns, {
                   {"outside_forward",
                    "`op_time` is no measure of the kernels: the work happens elsewhere, or [copies are in "
                    "it](#copies-in-an-op-time)",
                    [](auto& table, auto& row) { table.flag(row.op->flaw != OpTimeFlaw::none); }},
                   {"compared_by", "the time that `speed_up` compares",
                    [](auto& table, auto& row) { table.text(row.op->compared_by); }},
                   {"baseline", "the case that it is compared with",
                    [](auto& table, auto& row) { table.text(row.result->baseline); }},
               });
  add(columns, speed_up_columns<OpRow>("speed_up", "speed-up in `compared_by` over the baseline",
                                       [](const OpRow& row) -> const SpeedUp& { return row.op->speed_up; }));
  add(columns, speed_up_columns<OpRow>("gpu_speed_up", "speed-up in `gpu_time` over the baseline",
                                       [](const OpRow& row) -> const SpeedUp& { return row.gpu_speed_up; }));
  add(columns,
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

/// A metric of the catalogue or a quality of the case's family; empty for one that neither knows.
std::string_view unit_of(const CaseResult& result, std::string_view metric) {
  if (const QualityResult* const quality = find_quality(result, metric))
    return unit_symbol(quality->info->unit);
  const Metric* const row = find_metric(metric);
  return row == nullptr ? "" : unit_symbol(row->unit);
}

/// What a measurement is of.
CsvColumns<MeasurementRow> subject_columns(const std::vector<std::string>& axes) {
  using Row = MeasurementRow;
  CsvColumns<Row> columns = case_columns<Row>(axes);
  add(columns,
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
  using Row = MeasurementRow;
  CsvColumns<Row> columns = subject_columns(axes);
  add(columns,
      value_columns<Row>(
          {"median", "low", "high", "n", "absent"},
          "the median of its samples, its 95 % interval, their number, and the reason for a missing median",
          [](const Row& row) -> const Value& { return row.value; }));
  add(columns, {{"interval_absent", "why there is a median without an interval", [](auto& table, auto& row) {
                   const bool has_all = !row.value || row.value->interval;
                   table.text(has_all ? "" : no_interval(*row.value));
                 }}});
  return columns;
}

CsvColumns<MeasurementRow> samples_columns(const std::vector<std::string>& axes) {
  using Row = MeasurementRow;
  CsvColumns<Row> columns = subject_columns(axes);
  add(columns, {
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

/// What rows of a trace share, made into fields once: a trace has millions of them.
class TraceFields {
 public:
  TraceFields(const ExportScope& scope, const Trace& trace)
      : scope_(scope), trace_(trace), names_(trace.names.size()) {
    for (const trace::Place& place : trace.places) places_.push_back({field(place.op), field(place.part)});
  }

  const std::string& name(trace::NameIndex index) {
    std::string& text = names_[index];
    if (text.empty() && index != 0) text = field(trace_.names[index]);
    return text;
  }
  /// Of a few kinds: operations, memory, devices.
  template <class Kind, class Text>
  const std::string& kind(std::map<Kind, std::string>& known, const Kind& of, const Text& text) {
    const auto [entry, is_new] = known.try_emplace(of);
    if (is_new) entry->second = field(text(of));
    return entry->second;
  }
  const std::string& operation(trace::TransferKind of) {
    return kind(operations_, of, [&](trace::TransferKind k) { return trace_.operation(k); });
  }
  const std::string& memory(const std::optional<trace::MemoryKind>& of) {
    return kind(memory_, of, [&](const auto& k) { return trace_.memory(k); });
  }

  void begin_case(const ExportedCase& one) {
    const CaseKey& key = one.result->key;
    zero = one.start;
    case_id = field(one.result->id);
    variant = field(key.variant);
    parameters = field(parameters_text(key));
    for (const std::string& axis : scope_.axes) {
      const auto value = value_on(key.problem, axis);
      axes[axis] = value ? std::to_string(*value) : std::string();
    }
  }

  /// Whether it is mprof's own doing between two ops, which no table has.
  [[nodiscard]] bool in_pause(trace::PlaceIndex place) const {
    return trace_.places[place].part == trace::part::pause;
  }
  [[nodiscard]] const trace::Place& place(trace::PlaceIndex index) const { return places_[index]; }
  const std::string& device(const trace::Queue& queue) {
    return kind(devices_, queue.device, [&](std::uint32_t id) { return trace_.device(id); });
  }

  std::string case_id, variant, parameters;
  std::map<std::string, std::string> axes;
  std::int64_t zero = 0;  ///< ns, the start of the case

 private:
  static std::string field(const std::string& text) { return csv_field(text); }

  const ExportScope& scope_;
  const Trace& trace_;
  std::vector<std::string> names_;
  std::vector<trace::Place> places_;
  std::map<trace::TransferKind, std::string> operations_;
  std::map<std::optional<trace::MemoryKind>, std::string> memory_;
  std::map<std::uint32_t, std::string> devices_;
};

/// A row of a trace, with the texts that it shares.
template <class Row>
struct TraceRow {
  TraceFields& fields;
  const Row& row;
};

/// A column by a function of the texts and the row.
template <class Row, class Write>
CsvColumn<TraceRow<Row>> trace_column(std::string head, std::string_view meaning, const Write& write) {
  return {std::move(head), meaning,
          [write](CsvFile& table, const TraceRow<Row>& of) { write(table, of.fields, of.row); }};
}

/// What the tables of a trace begin with.
template <class Row>
CsvColumns<TraceRow<Row>> trace_columns(const std::vector<std::string>& axes) {
  CsvColumns<TraceRow<Row>> columns{
      trace_column<Row>("case", "id of the case",
                        [](auto& table, auto& fields, auto&) { table.ready(fields.case_id); }),
      trace_column<Row>("variant", "id of its variant",
                        [](auto& table, auto& fields, auto&) { table.ready(fields.variant); }),
      trace_column<Row>("parameters", "values of the variant's parameters, as a JSON object",
                        [](auto& table, auto& fields, auto&) { table.ready(fields.parameters); }),
  };
  for (const std::string& axis : axes) {
    columns.push_back(
        trace_column<Row>(axis, "value of the problem on this axis",
                          [axis](auto& table, auto& fields, auto&) { table.ready(fields.axes[axis]); }));
  }
  add(columns, {
                   trace_column<Row>(
                       "op", "the op that it belongs to; empty: none",
                       [](auto& table, auto& fields, auto& row) { table.ready(fields.place(row.place).op); }),
                   trace_column<Row>("part", "`prepare`, `op`, `finish`, or `between` two of them",
                                     [](auto& table, auto& fields, auto& row) {
                                       table.ready(fields.place(row.place).part);
                                     }),
                   trace_column<Row>("Start (ns)", "from the start of the case",
                                     [](auto& table, auto& fields, auto& row) {
                                       table.number(row.time.start - fields.zero);
                                     }),
                   trace_column<Row>("Duration (ns)", "its own time",
                                     [](auto& table, auto&, auto& row) { table.number(row.time.length()); }),
                   trace_column<Row>("CorrId", "joins work of a GPU with the call that launched it",
                                     [](auto& table, auto&, auto& row) { table.number(row.correlation); }),
               });
  return columns;
}

/// Where work ran on a GPU.
template <class Row>
CsvColumns<TraceRow<Row>> queue_columns() {
  return {
      trace_column<Row>("Device", "the GPU",
                        [](auto& table, auto& fields, auto& row) { table.ready(fields.device(row.queue)); }),
      trace_column<Row>("Ctx", "its CUDA context",
                        [](auto& table, auto&, auto& row) { table.number(std::int64_t{row.queue.context}); }),
      trace_column<Row>("Strm", "its stream",
                        [](auto& table, auto&, auto& row) { table.number(std::int64_t{row.queue.stream}); }),
  };
}

/// An axis of a size.
CsvColumn<TraceRow<trace::Kernel>> axis_column(const char* head, std::string_view meaning,
                                               std::optional<trace::Size> trace::Kernel::*size,
                                               std::size_t axis) {
  return trace_column<trace::Kernel>(head, meaning, [size, axis](auto& table, auto&, auto& kernel) {
    kernel.*size ? table.number(std::int64_t{(*(kernel.*size))[axis]}) : table.nothing();
  });
}
CsvColumn<TraceRow<trace::Kernel>> kernel_number(const char* head, std::string_view meaning,
                                                 std::optional<std::uint32_t> trace::Kernel::*number) {
  return trace_column<trace::Kernel>(
      head, meaning, [number](auto& table, auto&, auto& kernel) { table.number(kernel.*number); });
}

CsvColumns<TraceRow<trace::Kernel>> kernels_columns(const std::vector<std::string>& axes) {
  using trace::Kernel;
  CsvColumns<TraceRow<Kernel>> columns = trace_columns<Kernel>(axes);
  add(columns,
      {
          axis_column("GrdX", "blocks of the grid", &Kernel::grid, 0),
          axis_column("GrdY", "", &Kernel::grid, 1),
          axis_column("GrdZ", "", &Kernel::grid, 2),
          axis_column("BlkX", "threads of a block", &Kernel::block, 0),
          axis_column("BlkY", "", &Kernel::block, 1),
          axis_column("BlkZ", "", &Kernel::block, 2),
          kernel_number("Reg/Trd", "registers of a thread", &Kernel::registers_per_thread),
          kernel_number("StcSMem (B)", "static shared memory of a block", &Kernel::static_shared_memory),
          kernel_number("DymSMem (B)", "dynamic shared memory of a block", &Kernel::dynamic_shared_memory),
      });
  add(columns, queue_columns<Kernel>());
  columns.push_back(trace_column<Kernel>(
      "Name", "name of the kernel, with its parameters",
      [](auto& table, auto& fields, auto& kernel) { table.ready(fields.name(kernel.name)); }));
  return columns;
}

/// Where a transfer came from, or went to.
CsvColumn<TraceRow<trace::Transfer>> memory_column(const char* head, std::string_view meaning,
                                                   std::optional<trace::MemoryKind> trace::Transfer::*kind) {
  return trace_column<trace::Transfer>(head, meaning, [kind](auto& table, auto& fields, auto& transfer) {
    table.ready(fields.memory(transfer.*kind));
  });
}

CsvColumns<TraceRow<trace::Transfer>> transfers_columns(const std::vector<std::string>& axes) {
  using trace::Transfer;
  CsvColumns<TraceRow<Transfer>> columns = trace_columns<Transfer>(axes);
  add(columns,
      {
          trace_column<Transfer>("Bytes (B)", "its size",
                                 [](auto& table, auto&, auto& transfer) {
                                   table.number(static_cast<std::int64_t>(transfer.bytes));
                                 }),
          trace_column<Transfer>("Throughput (B/s)", "empty where it took 0 ns",
                                 [](auto& table, auto&, auto& transfer) {
                                   const double seconds = static_cast<double>(transfer.time.length()) * 1e-9;
                                   seconds > 0 ? table.number(std::round(static_cast<double>(transfer.bytes) /
                                                                         seconds))
                                               : table.nothing();
                                 }),
          memory_column("SrcMemKd", "kind of the memory that is read, or that is set", &Transfer::source),
          memory_column("DstMemKd", "kind of the memory that is written", &Transfer::destination),
      });
  add(columns, queue_columns<Transfer>());
  columns.push_back(trace_column<Transfer>(
      "Name", "`[CUDA memcpy Host-to-Device]`, `[CUDA memset]`",
      [](auto& table, auto& fields, auto& transfer) { table.ready(fields.operation(transfer.kind)); }));
  return columns;
}

CsvColumns<TraceRow<trace::Call>> calls_columns(const std::vector<std::string>& axes) {
  using trace::Call;
  CsvColumns<TraceRow<Call>> columns = trace_columns<Call>(axes);
  add(columns, {
                   trace_column<Call>("API", "`runtime` or `driver`",
                                      [](auto& table, auto&, auto& call) {
                                        table.ready(call.api == trace::Api::runtime ? "runtime" : "driver");
                                      }),
                   trace_column<Call>("Result", "the error code; 0: success",
                                      [](auto& table, auto&, auto& call) { table.number(call.result); }),
                   trace_column<Call>("Pid", "process that called",
                                      [](auto& table, auto&, auto& call) {
                                        table.number(trace::nsys::native_process(call.thread));
                                      }),
                   trace_column<Call>("Tid", "thread that called",
                                      [](auto& table, auto&, auto& call) {
                                        table.number(trace::nsys::native_thread(call.thread));
                                      }),
                   trace_column<Call>(
                       "Name", "name of the function",
                       [](auto& table, auto& fields, auto& call) { table.ready(fields.name(call.name)); }),
               });
  return columns;
}

/// The rows of each case, but for pauses.
template <class Row>
fs::path write_rows(const ExportScope& scope, const ExportedTrace& traced, const fs::path& path,
                    CsvColumns<TraceRow<Row>> columns, const std::vector<Row>& rows,
                    std::vector<std::uint32_t> ExportedCase::*of_case) {
  CsvTable<TraceRow<Row>> table(path, std::move(columns));
  TraceFields fields(scope, traced.rows);
  for (const ExportedCase& one : traced.cases) {
    fields.begin_case(one);
    for (const std::uint32_t index : one.*of_case) {
      const Row& row = rows[index];
      if (!fields.in_pause(row.place)) table.add({fields, row});
    }
  }
  table.commit();
  return path;
}

/// A table of the documentation: each column after those of every table, and what it has. `rows`: what it has
/// a row for.
template <class Row>
std::string columns_as_markdown(std::string_view file, std::string_view rows,
                                const CsvColumns<Row>& columns) {
  std::string text = fmt::format("### {}: a row for {}\n\n| column | meaning |\n|---|---|\n", file, rows);
  std::string heads;
  for (std::size_t i = case_columns<CaseRow>({}).size(); i < columns.size(); ++i) {
    heads += fmt::format("{}`{}`", heads.empty() ? "" : ", ", columns[i].head);
    std::size_t first = i;
    while (columns[first].meaning.empty()) --first;
    if (i + 1 < columns.size() && columns[i + 1].meaning.empty()) continue;
    text += fmt::format("| {} | {} |\n", std::exchange(heads, ""), columns[first].meaning);
  }
  return text + "\n";
}

}  // namespace

std::vector<fs::path> write_run_tables(const ExportScope& scope, const fs::path& directory) {
  return {write_cases(scope, directory / cases_file), write_ops(scope, directory / ops_file),
          write_measurements(scope, directory / measurements_file),
          write_samples(scope, directory / samples_file)};
}

std::vector<fs::path> write_trace_tables(const ExportScope& scope, const ExportedTrace& traced,
                                         const fs::path& directory) {
  const Trace& trace = traced.rows;
  return {write_rows(scope, traced, directory / kernels_file, kernels_columns(scope.axes), trace.kernels,
                     &ExportedCase::kernels),
          write_rows(scope, traced, directory / transfers_file, transfers_columns(scope.axes),
                     trace.transfers, &ExportedCase::transfers),
          write_rows(scope, traced, directory / calls_file, calls_columns(scope.axes), trace.calls,
                     &ExportedCase::calls)};
}

std::string tables_as_markdown() {
  const std::vector<std::string> axes, qualities{"QUALITY"};
  std::string text =
      columns_as_markdown(cases_file, "each case", cases_columns(axes, qualities)) +
      columns_as_markdown(ops_file, "each op of each case", ops_columns(axes)) +
      columns_as_markdown(measurements_file, "each measurement", measurements_columns(axes)) +
      columns_as_markdown(samples_file, "each sample", samples_columns(axes)) +
      columns_as_markdown(kernels_file, "each execution of a kernel", kernels_columns(axes)) +
      columns_as_markdown(transfers_file, "each copy and each memset", transfers_columns(axes)) +
      columns_as_markdown(calls_file, "each call of CUDA", calls_columns(axes));
  text.pop_back();
  return text;
}

std::vector<std::string> trace_table_names() {
  return {kernels_file, transfers_file, calls_file};
}

}  // namespace mprof
