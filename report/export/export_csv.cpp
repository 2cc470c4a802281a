#include <cmath>
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
using trace::Profile;

constexpr const char* kernels_file = "kernels.csv";
constexpr const char* transfers_file = "transfers.csv";
constexpr const char* calls_file = "api_calls.csv";

std::string parameters_text(const CaseKey& key) {
  return nlohmann::json(key.parameters).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// The columns by which every table of a run knows a case: case, variant, parameters, batch.
void add_key(CsvFile& table, const CaseResult& result) {
  table.text(result.id).text(result.key.variant).text(parameters_text(result.key));
  table.number(static_cast<std::int64_t>(result.key.batch));
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

/// All checks of a case as one: a failed one decides.
std::string_view verification_of_case(const CaseResult& result) {
  bool checked = false;
  for (const OpResult& op : result.ops) {
    if (op.verification && !op.verification->passed) return verification_word(op.verification);
    checked = checked || op.verification.has_value();
  }
  return checked ? "passed" : "not checked";
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

fs::path write_cases(const ExportScope& scope, const fs::path& path) {
  CsvFile table(path, {"case",
                       "variant",
                       "parameters",
                       "batch",
                       "status",
                       "reason",
                       "is_baseline",
                       "baseline",
                       "verification",
                       "accuracy",
                       "accuracy_absent",
                       "accuracy_change",
                       "accuracy_change_absent",
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
                       "counters_reason"});
  for (const CaseResult* result : scope.cases) {
    add_key(table, *result);
    table.text(to_string(result->status)).text(result->reason);
    table.flag(result->is_baseline).text(result->baseline).text(verification_of_case(*result));
    table.number(result->accuracy ? std::optional(result->accuracy->median) : std::nullopt);
    table.text(result->accuracy ? "" : result->accuracy.absent);
    table.number(result->accuracy_change).text(why_no_accuracy_change(*result));
    add_value(table, result->total_time);
    add_speed_up(table, result->total_speed_up);
    for (const Pass pass : {Pass::timing, Pass::trace, Pass::counters})
      add_pass(table, *result->source, pass);
    table.end_row();
  }
  table.commit();
  return path;
}

void add_verification(CsvFile& table, const std::optional<Verification>& check) {
  table.text(verification_word(check));
  if (!check) {
    table.nothing().nothing().nothing().nothing().nothing().nothing();
    return;
  }
  table.number(check->relative_l2).number(check->tolerance).number(check->max_error);
  table.number(static_cast<std::int64_t>(check->non_finite));
  table.number(static_cast<std::int64_t>(check->never_written)).text(check->finding);
}

fs::path write_ops(const ExportScope& scope, const fs::path& path) {
  CsvFile table(path, {"case",
                       "variant",
                       "parameters",
                       "batch",
                       "op",
                       "status",
                       "op_time",
                       "op_time_low",
                       "op_time_high",
                       "op_time_n",
                       "op_time_absent",
                       "layer_time",
                       "layer_time_low",
                       "layer_time_high",
                       "layer_time_n",
                       "layer_time_absent",
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
                       "finding"});
  for (const CaseResult* result : scope.cases) {
    for (const OpResult& op : result->ops) {
      add_key(table, *result);
      table.text(op.info.name).text(to_string(result->status));
      for (const Value* time : {&op.op_time, &op.layer_time, &op.gpu_time}) add_value(table, *time);
      table.flag(op.outside_forward).text(op.compared_by).text(result->baseline);
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

/// The columns that say what a measurement is of: pass, status, op, kernel, metric, unit, source.
void add_subject(CsvFile& table, const PassResult& pass, const Measurement& m) {
  const Metric* metric = find_metric(m.metric);
  table.text(to_string(pass.pass)).text(to_string(pass.status)).text(m.op).text(m.kernel).text(m.metric);
  table.text(metric == nullptr ? "" : unit_symbol(metric->unit)).text(to_string(m.source));
}

fs::path write_measurements(const ExportScope& scope, const fs::path& path) {
  CsvFile table(path, {"case", "variant", "parameters", "batch", "pass", "status", "op", "kernel", "metric",
                       "unit", "source", "median", "low", "high", "n", "absent", "interval_absent"});
  for_each_measurement(scope, [&](const CaseResult& result, const PassResult& pass, const Measurement& m) {
    const Value value = value_of(m);
    add_key(table, result);
    add_subject(table, pass, m);
    add_value(table, value);
    table.text(!value || value->interval ? "" : no_interval(value->samples)).end_row();
  });
  table.commit();
  return path;
}

fs::path write_samples(const ExportScope& scope, const fs::path& path) {
  CsvFile table(path, {"case", "variant", "parameters", "batch", "pass", "status", "op", "kernel", "metric",
                       "unit", "source", "sample", "value"});
  for_each_measurement(scope, [&](const CaseResult& result, const PassResult& pass, const Measurement& m) {
    for (std::size_t i = 0; i < m.samples.size(); ++i) {
      add_key(table, result);
      add_subject(table, pass, m);
      table.number(static_cast<std::int64_t>(i)).number(m.samples[i]).end_row();
    }
  });
  table.commit();
  return path;
}

/// What rows of a trace share, made into fields once: a trace has millions of them.
class TraceFields {
 public:
  explicit TraceFields(const Profile& profile) : profile_(profile), names_(profile.names.size()) {}

  const std::string& name(trace::NameIndex index) {
    std::string& field = names_[index];
    if (field.empty() && index != 0) field = csv_field(format::one_line(profile_.names[index]));
    return field;
  }
  /// "NVIDIA H200 (0)", as nsys has it.
  std::string device(std::int64_t number) const {
    const auto gpu = profile_.gpus.find(number);
    if (gpu == profile_.gpus.end()) return format::plain(number);
    return csv_field(format::one_line(fmt::format("{} ({})", gpu->second, number)));
  }
  void begin_case(const ExportedCase& one) {
    zero_ = one.start;
    case_ = fmt::format("{},{},{},{}", csv_field(format::one_line(one.result->id)),
                        csv_field(format::one_line(one.result->key.variant)),
                        csv_field(format::one_line(parameters_text(one.result->key))), one.result->key.batch);
  }

  /// Whether it is mprof's own doing between two ops, which no table has.
  [[nodiscard]] bool in_pause(std::int64_t correlation) const {
    const trace::Attribution* place = profile_.find_attribution(correlation);
    return place != nullptr && profile_.names[place->part] == trace::part::pause;
  }
  /// case, variant, parameters, batch, op, part, Start (ns), Duration (ns), CorrId.
  void add_head(CsvFile& table, const trace::Interval& time, std::int64_t correlation) {
    const trace::Attribution* place = profile_.find_attribution(correlation);
    table.ready(case_, 4);
    table.ready(place == nullptr ? "" : name(place->op)).ready(place == nullptr ? "" : name(place->part));
    table.number(time.start - zero_).number(time.length()).number(correlation);
  }
  /// Device, Ctx, Strm, Name.
  void add_queue(CsvFile& table, const trace::Queue& queue, trace::NameIndex what) {
    table.ready(device(queue.device)).number(queue.context).number(queue.stream).ready(name(what));
  }

 private:
  const Profile& profile_;
  std::vector<std::string> names_;
  std::string case_;
  std::int64_t zero_ = 0;  ///< ns, the start of the case
};

void add_size(CsvFile& table, const std::optional<std::array<std::int32_t, 3>>& size) {
  for (std::size_t i = 0; i < 3; ++i) {
    size ? table.number(std::int64_t{(*size)[i]}) : table.nothing();
  }
}

fs::path write_kernels(const ExportedTrace& traced, const fs::path& path) {
  CsvFile table(path, {"case",       "variant",       "parameters", "batch",   "op",          "part",
                       "Start (ns)", "Duration (ns)", "CorrId",     "GrdX",    "GrdY",        "GrdZ",
                       "BlkX",       "BlkY",          "BlkZ",       "Reg/Trd", "StcSMem (B)", "DymSMem (B)",
                       "Device",     "Ctx",           "Strm",       "Name"});
  TraceFields fields(traced.profile);
  for (const ExportedCase& one : traced.cases) {
    fields.begin_case(one);
    for (const std::uint32_t index : one.kernels) {
      const trace::ProfiledKernel& kernel = traced.profile.kernels[index];
      if (fields.in_pause(kernel.correlation)) continue;
      fields.add_head(table, kernel.time, kernel.correlation);
      add_size(table, kernel.grid);
      add_size(table, kernel.block);
      table.number(kernel.registers_per_thread);
      table.number(kernel.static_shared_memory).number(kernel.dynamic_shared_memory);
      fields.add_queue(table, kernel.queue, kernel.name);
      table.end_row();
    }
  }
  table.commit();
  return path;
}

fs::path write_transfers(const ExportedTrace& traced, const fs::path& path) {
  CsvFile table(
      path, {"case", "variant", "parameters", "batch", "op", "part", "Start (ns)", "Duration (ns)", "CorrId",
             "Bytes (B)", "Throughput (B/s)", "SrcMemKd", "DstMemKd", "Device", "Ctx", "Strm", "Name"});
  TraceFields fields(traced.profile);
  for (const ExportedCase& one : traced.cases) {
    fields.begin_case(one);
    for (const std::uint32_t index : one.transfers) {
      const trace::ProfiledTransfer& transfer = traced.profile.transfers[index];
      if (fields.in_pause(transfer.correlation)) continue;
      fields.add_head(table, transfer.time, transfer.correlation);
      table.number(static_cast<std::int64_t>(transfer.bytes));
      const double seconds = static_cast<double>(transfer.time.length()) * 1e-9;
      seconds > 0 ? table.number(std::round(static_cast<double>(transfer.bytes) / seconds)) : table.nothing();
      table.ready(fields.name(transfer.source)).ready(fields.name(transfer.destination));
      fields.add_queue(table, transfer.queue, transfer.operation);
      table.end_row();
    }
  }
  table.commit();
  return path;
}

fs::path write_calls(const ExportedTrace& traced, const fs::path& path) {
  CsvFile table(path, {"case", "variant", "parameters", "batch", "op", "part", "Start (ns)", "Duration (ns)",
                       "CorrId", "API", "Result", "Pid", "Tid", "Name"});
  TraceFields fields(traced.profile);
  for (const ExportedCase& one : traced.cases) {
    fields.begin_case(one);
    for (const std::uint32_t index : one.calls) {
      const trace::ProfiledCall& call = traced.profile.calls[index];
      if (fields.in_pause(call.correlation)) continue;
      fields.add_head(table, call.time, call.correlation);
      table.ready(call.api == trace::Api::runtime ? "runtime" : "driver").number(call.result);
      table.number((call.thread >> trace::nsys::process_shift) & trace::nsys::thread_mask);
      table.number(call.thread & trace::nsys::thread_mask).ready(fields.name(call.name)).end_row();
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

std::vector<fs::path> write_trace_tables(const ExportedTrace& traced, const fs::path& directory) {
  return {write_kernels(traced, directory / kernels_file),
          write_transfers(traced, directory / transfers_file), write_calls(traced, directory / calls_file)};
}

std::vector<std::string> trace_table_names() {
  return {kernels_file, transfers_file, calls_file};
}

}  // namespace mprof
