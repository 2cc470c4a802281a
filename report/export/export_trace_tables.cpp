// SPDX-License-Identifier: MIT
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/trace/nsys_schema.hpp"
#include "report/export/csv_columns.hpp"
#include "report/export/export.hpp"

/// The tables of a trace for pandas: one row for each kernel, transfer and API call.
namespace mprof {
namespace {

namespace fs = std::filesystem;
using trace::Trace;

constexpr const char* kernels_file = "kernels.csv";
constexpr const char* transfers_file = "transfers.csv";
constexpr const char* calls_file = "api_calls.csv";

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
      trace_column<Row>("parameters", "values of the variant's parameters: `a=1;b=2`",
                        [](auto& table, auto& fields, auto&) { table.ready(fields.parameters); }),
  };
  for (const std::string& axis : axes) {
    columns.push_back(
        trace_column<Row>(axis, "value of the problem on this axis",
                          [axis](auto& table, auto& fields, auto&) { table.ready(fields.axes[axis]); }));
  }
  append(columns,
         {
             trace_column<Row>(
                 "op", "the op that it belongs to; empty: none",
                 [](auto& table, auto& fields, auto& row) { table.ready(fields.place(row.place).op); }),
             trace_column<Row>(
                 "part", "`prepare`, `op`, `finish`, or `between` two of them; `pause` with `--with-pauses`",
                 [](auto& table, auto& fields, auto& row) { table.ready(fields.place(row.place).part); }),
             trace_column<Row>(
                 "Start (ns)", "from the start of the case",
                 [](auto& table, auto& fields, auto& row) { table.number(row.time.start - fields.zero); }),
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
  append(columns,
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
  append(columns, queue_columns<Kernel>());
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
  append(columns,
         {
             trace_column<Transfer>("Bytes (B)", "its size",
                                    [](auto& table, auto&, auto& transfer) {
                                      table.number(static_cast<std::int64_t>(transfer.bytes));
                                    }),
             trace_column<Transfer>(
                 "Throughput (B/s)", "empty where it took 0 ns",
                 [](auto& table, auto&, auto& transfer) {
                   const double seconds = static_cast<double>(transfer.time.length()) * 1e-9;
                   seconds > 0 ? table.number(std::round(static_cast<double>(transfer.bytes) / seconds))
                               : table.nothing();
                 }),
             memory_column("SrcMemKd", "kind of the memory that is read, or that is set", &Transfer::source),
             memory_column("DstMemKd", "kind of the memory that is written", &Transfer::destination),
         });
  append(columns, queue_columns<Transfer>());
  columns.push_back(trace_column<Transfer>(
      "Name", "`[CUDA memcpy Host-to-Device]`, `[CUDA memset]`",
      [](auto& table, auto& fields, auto& transfer) { table.ready(fields.operation(transfer.kind)); }));
  return columns;
}

CsvColumns<TraceRow<trace::Call>> calls_columns(const std::vector<std::string>& axes) {
  using trace::Call;
  CsvColumns<TraceRow<Call>> columns = trace_columns<Call>(axes);
  append(columns,
         {
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

/// The rows of each case.
template <class Row, class Rows>
fs::path write_rows(const ExportScope& scope, const ExportedTrace& traced, const fs::path& path,
                    CsvColumns<TraceRow<Row>> columns, const Rows& rows,
                    std::vector<std::uint32_t> ExportedCase::*of_case) {
  CsvTable<TraceRow<Row>> table(path, std::move(columns));
  TraceFields fields(scope, traced.rows);
  for (const ExportedCase& one : traced.cases) {
    fields.begin_case(one);
    for (const std::uint32_t index : one.*of_case) table.add({fields, rows[index]});
  }
  table.commit();
  return path;
}

}  // namespace

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

std::string trace_tables_as_markdown() {
  const std::vector<std::string> axes;
  return columns_as_markdown(kernels_file, "each execution of a kernel", kernels_columns(axes)) +
         columns_as_markdown(transfers_file, "each copy and each memset", transfers_columns(axes)) +
         columns_as_markdown(calls_file, "each call of CUDA", calls_columns(axes));
}

std::vector<std::string> trace_table_names() {
  return {kernels_file, transfers_file, calls_file};
}

}  // namespace mprof
