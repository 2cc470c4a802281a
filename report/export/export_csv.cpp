#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/metric.hpp"
#include "model/trace/nsys_schema.hpp"
#include "report/export/export.hpp"
#include "report/text/csv.hpp"
#include "report/text/format.hpp"

/// The tables for pandas: one row for each case, op, measurement, sample, kernel, transfer and API call.
namespace mprof {
namespace {

namespace fs = std::filesystem;
using trace::Trace;

constexpr const char* kernels_file = "kernels.csv";
constexpr const char* transfers_file = "transfers.csv";
constexpr const char* calls_file = "api_calls.csv";

std::string parameters_text(const CaseKey& key) {
  return nlohmann::json(key.parameters).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// The columns by which every table of a run knows a case: case, variant, parameters and one for each axis.
/// `more` follow them.
std::vector<std::string> columns(const ExportScope& scope, std::initializer_list<std::string_view> more) {
  std::vector<std::string> all{"case", "variant", "parameters"};
  all.insert(all.end(), scope.axes.begin(), scope.axes.end());
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

/// What stands in them. An axis that the case's family does not have is empty.
void add_key(CsvFile& table, const ExportScope& scope, const CaseResult& result) {
  table.text(result.id).text(result.key.variant).text(parameters_text(result.key));
  for (const std::string& axis : scope.axes) {
    const auto value = value_on(result.key.problem, axis);
    value ? table.number(static_cast<std::int64_t>(*value)) : table.nothing();
  }
}

/// Five columns: median, low, high, n, and the reason for an absent median.
void add_value(CsvFile& table, const Value& value) {
  if (!value) {
    table.nothing().nothing().nothing().number(std::int64_t{0}).text(value.absent);
    return;
  }
  table.number(value->median);
  value->interval ? table.number(value->interval->low).number(value->interval->high)
                  : table.nothing().nothing();
  table.number(static_cast<std::int64_t>(value->samples)).nothing();
}

/// Four columns: factor, low, high, and the reason for an absent factor.
void add_speed_up(CsvFile& table, const SpeedUp& speed_up) {
  table.number(speed_up.factor);
  speed_up.interval ? table.number(speed_up.interval->low).number(speed_up.interval->high)
                    : table.nothing().nothing();
  table.text(speed_up ? "" : speed_up.absent);
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

/// Two columns: how a pass ended, and why when it is not ok.
void add_pass(CsvFile& table, const Case& c, Pass pass) {
  const PassResult* found = find_pass(c, pass);
  if (found == nullptr) {
    table.text("absent").text(fmt::format("the run had no {} pass for it", to_string(pass)));
  } else {
    table.text(to_string(found->status)).text(found->reason);
  }
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

/// Four columns: value, the reason for an absent one, change, and the reason for an absent one.
void add_quality(CsvFile& table, const CaseResult& result, std::string_view metric) {
  const QualityResult* const quality = find_quality(result, metric);
  if (quality == nullptr) {
    constexpr std::string_view none = "its family has no such quality";
    table.nothing().text(none).nothing().text(none);
    return;
  }
  table.number(quality->value ? std::optional(quality->value->median) : std::nullopt);
  table.text(quality->value ? "" : quality->value.absent);
  table.number(quality->change).text(why_no_change(result, *quality));
}

fs::path write_cases(const ExportScope& scope, const fs::path& path) {
  const std::vector<std::string> qualities = quality_metrics(scope);
  std::vector<std::string> heads = columns(scope, {"status",
                                                   "reason",
                                                   "is_baseline",
                                                   "baseline",
                                                   "verification",
                                                   "total_time",
                                                   "total_time_low",
                                                   "total_time_high",
                                                   "total_time_n",
                                                   "total_time_absent",
                                                   "total_speed_up",
                                                   "total_speed_up_low",
                                                   "total_speed_up_high",
                                                   "total_speed_up_absent",
                                                   "timing",
                                                   "timing_reason",
                                                   "trace",
                                                   "trace_reason",
                                                   "counters",
                                                   "counters_reason",
                                                   "source",
                                                   "source_reason"});
  for (const std::string& metric : qualities) {
    for (const char* const suffix : {"", "_absent", "_change", "_change_absent"})
      heads.push_back(metric + suffix);
  }
  CsvFile table(path, heads);
  for (const CaseResult* result : scope.cases) {
    add_key(table, scope, *result);
    table.text(to_string(result->status)).text(result->reason);
    table.flag(result->is_baseline).text(result->baseline).text(verification_of_case(*result));
    add_value(table, result->total_time);
    add_speed_up(table, result->total_speed_up);
    for (const Pass pass : {Pass::timing, Pass::trace, Pass::counters, Pass::source})
      add_pass(table, *result->source, pass);
    for (const std::string& metric : qualities) add_quality(table, *result, metric);
    table.end_row();
  }
  table.commit();
  return path;
}

void add_verification(CsvFile& table, const std::optional<Verification>& verified) {
  table.text(verification_word(verified));
  if (!verified) {
    table.nothing().nothing().nothing().nothing().nothing().nothing();
    return;
  }
  table.number(verified->relative_l2).number(verified->tolerance).number(verified->max_error);
  table.number(static_cast<std::int64_t>(verified->non_finite));
  table.number(static_cast<std::int64_t>(verified->never_written)).text(verified->finding);
}

fs::path write_ops(const ExportScope& scope, const fs::path& path) {
  CsvFile table(path, columns(scope, {"op",
                                      "status",
                                      "op_time",
                                      "op_time_low",
                                      "op_time_high",
                                      "op_time_n",
                                      "op_time_absent",
                                      "group_time",
                                      "group_time_low",
                                      "group_time_high",
                                      "group_time_n",
                                      "group_time_absent",
                                      "gpu_time",
                                      "gpu_time_low",
                                      "gpu_time_high",
                                      "gpu_time_n",
                                      "gpu_time_absent",
                                      "outside_forward",
                                      "compared_by",
                                      "baseline",
                                      "speed_up",
                                      "speed_up_low",
                                      "speed_up_high",
                                      "speed_up_absent",
                                      "gpu_speed_up",
                                      "gpu_speed_up_low",
                                      "gpu_speed_up_high",
                                      "gpu_speed_up_absent",
                                      "verification",
                                      "relative_l2",
                                      "tolerance",
                                      "max_error",
                                      "non_finite",
                                      "never_written",
                                      "finding"}));
  for (const CaseResult* result : scope.cases) {
    for (const OpResult& op : result->ops) {
      add_key(table, scope, *result);
      table.text(op.info.name).text(to_string(result->status));
      for (const Value* time : {&op.op_time, &op.group_time, &op.gpu_time}) add_value(table, *time);
      table.flag(!op.flaw.empty()).text(op.compared_by).text(result->baseline);
      add_speed_up(table, op.speed_up);
      add_speed_up(table, gpu_speed_up_of(op));
      add_verification(table, op.verification);
      table.end_row();
    }
  }
  table.commit();
  return path;
}

/// Calls visit(case, pass, measurement) for every measurement of the scope.
template <class Visit>
void for_each_measurement(const ExportScope& scope, const Visit& visit) {
  for (const CaseResult* result : scope.cases) {
    for (const PassResult& pass : result->source->passes) {
      for (const Measurement& measurement : pass.measurements) visit(*result, pass, measurement);
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

/// The columns that say what a measurement is of: pass, status, op, kernel, metric, unit, source.
void add_subject(CsvFile& table, const CaseResult& result, const PassResult& pass, const Measurement& m) {
  table.text(to_string(pass.pass)).text(to_string(pass.status)).text(m.op).text(m.kernel).text(m.metric);
  table.text(unit_of(result, m.metric)).text(to_string(m.source));
}

fs::path write_measurements(const ExportScope& scope, const fs::path& path) {
  CsvFile table(path, columns(scope, {"pass", "status", "op", "kernel", "metric", "unit", "source", "median",
                                      "low", "high", "n", "absent", "interval_absent"}));
  for_each_measurement(scope, [&](const CaseResult& result, const PassResult& pass, const Measurement& m) {
    const Value value = value_of(m);
    add_key(table, scope, result);
    add_subject(table, result, pass, m);
    add_value(table, value);
    table.text(!value || value->interval ? "" : no_interval(*value)).end_row();
  });
  table.commit();
  return path;
}

fs::path write_samples(const ExportScope& scope, const fs::path& path) {
  CsvFile table(path, columns(scope, {"pass", "status", "op", "kernel", "metric", "unit", "source", "sample",
                                      "value"}));
  for_each_measurement(scope, [&](const CaseResult& result, const PassResult& pass, const Measurement& m) {
    for (std::size_t i = 0; i < m.samples.size(); ++i) {
      add_key(table, scope, result);
      add_subject(table, result, pass, m);
      table.number(static_cast<std::int64_t>(i)).number(m.samples[i]).end_row();
    }
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
    zero_ = one.start;
    case_ = fmt::format("{},{},{}", field(one.result->id), field(key.variant), field(parameters_text(key)));
    for (const std::string& axis : scope_.axes) {
      const auto value = value_on(key.problem, axis);
      case_ += value ? fmt::format(",{}", *value) : ",";
    }
  }

  /// Whether it is mprof's own doing between two ops, which no table has.
  [[nodiscard]] bool in_pause(trace::PlaceIndex place) const {
    return trace_.places[place].part == trace::part::pause;
  }
  /// case, variant, parameters, the axes, op, part, Start (ns), Duration (ns), CorrId.
  template <class Row>
  void add_head(CsvFile& table, const Row& row) {
    table.ready(case_, 3 + scope_.axes.size());
    table.ready(places_[row.place].op).ready(places_[row.place].part);
    table.number(row.time.start - zero_).number(row.time.length()).number(row.correlation);
  }
  /// Device, Ctx, Strm, Name.
  void add_queue(CsvFile& table, const trace::Queue& queue, const std::string& name) {
    table.ready(kind(devices_, queue.device, [&](std::uint32_t id) { return trace_.device(id); }));
    table.number(std::int64_t{queue.context}).number(std::int64_t{queue.stream}).ready(name);
  }

 private:
  static std::string field(const std::string& text) { return csv_field(format::one_line(text)); }

  const ExportScope& scope_;
  const Trace& trace_;
  std::vector<std::string> names_;
  std::vector<trace::Place> places_;
  std::map<trace::TransferKind, std::string> operations_;
  std::map<std::optional<trace::MemoryKind>, std::string> memory_;
  std::map<std::uint32_t, std::string> devices_;
  std::string case_;
  std::int64_t zero_ = 0;  ///< ns, the start of the case
};

void add_size(CsvFile& table, const std::optional<trace::Size>& size) {
  for (std::size_t i = 0; i < 3; ++i) {
    size ? table.number(std::int64_t{(*size)[i]}) : table.nothing();
  }
}

fs::path write_kernels(const ExportScope& scope, const ExportedTrace& traced, const fs::path& path) {
  CsvFile table(path, columns(scope, {"op", "part", "Start (ns)", "Duration (ns)", "CorrId", "GrdX", "GrdY",
                                      "GrdZ", "BlkX", "BlkY", "BlkZ", "Reg/Trd", "StcSMem (B)", "DymSMem (B)",
                                      "Device", "Ctx", "Strm", "Name"}));
  TraceFields fields(scope, traced.rows);
  for (const ExportedCase& one : traced.cases) {
    fields.begin_case(one);
    for (const std::uint32_t index : one.kernels) {
      const trace::Kernel& kernel = traced.rows.kernels[index];
      if (fields.in_pause(kernel.place)) continue;
      fields.add_head(table, kernel);
      add_size(table, kernel.grid);
      add_size(table, kernel.block);
      table.number(kernel.registers_per_thread);
      table.number(kernel.static_shared_memory).number(kernel.dynamic_shared_memory);
      fields.add_queue(table, kernel.queue, fields.name(kernel.name));
      table.end_row();
    }
  }
  table.commit();
  return path;
}

fs::path write_transfers(const ExportScope& scope, const ExportedTrace& traced, const fs::path& path) {
  CsvFile table(
      path, columns(scope, {"op", "part", "Start (ns)", "Duration (ns)", "CorrId", "Bytes (B)",
                            "Throughput (B/s)", "SrcMemKd", "DstMemKd", "Device", "Ctx", "Strm", "Name"}));
  TraceFields fields(scope, traced.rows);
  for (const ExportedCase& one : traced.cases) {
    fields.begin_case(one);
    for (const std::uint32_t index : one.transfers) {
      const trace::Transfer& transfer = traced.rows.transfers[index];
      if (fields.in_pause(transfer.place)) continue;
      fields.add_head(table, transfer);
      table.number(static_cast<std::int64_t>(transfer.bytes));
      const double seconds = static_cast<double>(transfer.time.length()) * 1e-9;
      seconds > 0 ? table.number(std::round(static_cast<double>(transfer.bytes) / seconds)) : table.nothing();
      table.ready(fields.memory(transfer.source)).ready(fields.memory(transfer.destination));
      fields.add_queue(table, transfer.queue, fields.operation(transfer.kind));
      table.end_row();
    }
  }
  table.commit();
  return path;
}

fs::path write_calls(const ExportScope& scope, const ExportedTrace& traced, const fs::path& path) {
  CsvFile table(path, columns(scope, {"op", "part", "Start (ns)", "Duration (ns)", "CorrId", "API", "Result",
                                      "Pid", "Tid", "Name"}));
  TraceFields fields(scope, traced.rows);
  for (const ExportedCase& one : traced.cases) {
    fields.begin_case(one);
    for (const std::uint32_t index : one.calls) {
      const trace::Call& call = traced.rows.calls[index];
      if (fields.in_pause(call.place)) continue;
      fields.add_head(table, call);
      table.ready(call.api == trace::Api::runtime ? "runtime" : "driver").number(call.result);
      table.number(trace::nsys::native_process(call.thread));
      table.number(trace::nsys::native_thread(call.thread)).ready(fields.name(call.name)).end_row();
    }
  }
  table.commit();
  return path;
}

}  // namespace

std::vector<fs::path> write_run_tables(const ExportScope& scope, const fs::path& directory) {
  return {write_cases(scope, directory / "cases.csv"), write_ops(scope, directory / "ops.csv"),
          write_measurements(scope, directory / "measurements.csv"),
          write_samples(scope, directory / "samples.csv")};
}

std::vector<fs::path> write_trace_tables(const ExportScope& scope, const ExportedTrace& traced,
                                         const fs::path& directory) {
  return {write_kernels(scope, traced, directory / kernels_file),
          write_transfers(scope, traced, directory / transfers_file),
          write_calls(scope, traced, directory / calls_file)};
}

std::vector<std::string> trace_table_names() {
  return {kernels_file, transfers_file, calls_file};
}

}  // namespace mprof
