// SPDX-License-Identifier: MIT
#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/kernel_name.hpp"
#include "model/trace/nsys_schema.hpp"
#include "report/analysis/machines/environment.hpp"
#include "report/export/export.hpp"
#include "report/text/format.hpp"
#include "report/trace/slice_lanes.hpp"
#include "system/files.hpp"

/// trace.perfetto.json. Every case is a process, every host thread and every stream of a GPU a thread of it.
/// What Perfetto's importer makes of the file sets these rules: a thread's name goes by its tid alone, so no
/// tid is used twice; of two slices with one start the outer one stands first in the file; an arrow ("s",
/// "f") binds to the slice that is open at its time, so it follows that slice in the file.
namespace mprof {
namespace {

using trace::NameIndex;
using trace::Trace;

enum class Kind : std::uint8_t { range, call, kernel, transfer };

/// Something with a beginning and an end, by its place in the trace.
struct Slice {
  trace::Interval time{};
  std::uint32_t index = 0;
  Kind kind = Kind::range;
};

/// Outer slices before inner ones: a call that takes as long as its range lies in it.
void sort_for_nesting(std::vector<Slice>& slices) {
  std::ranges::stable_sort(slices, [](const Slice& a, const Slice& b) {
    return std::tuple(a.time.start, -a.time.end, a.kind) < std::tuple(b.time.start, -b.time.end, b.kind);
  });
}

/// A row of the timeline before it is split into lanes.
struct Row {
  std::string name;
  Nesting nesting = Nesting::allowed;
  std::vector<Slice> slices;
};

std::string json_string(std::string_view text) {
  return nlohmann::json(format::one_line(text)).dump();
}

/// The texts of a trace as JSON strings, each made once.
class QuotedNames {
 public:
  explicit QuotedNames(const Trace& trace) : trace_(trace), texts_(trace.names.size()) {
    for (const trace::Place& place : trace.places) places_.push_back(place_text(place));
  }

  const std::string& operator[](NameIndex index) {
    std::string& text = texts_[index];
    if (text.empty()) text = json_string(trace_.names[index]);
    return text;
  }
  const std::string& operation(trace::TransferKind kind) {
    std::string& text = operations_[kind];
    if (text.empty()) text = json_string(trace_.operation(kind));
    return text;
  }
  /// Empty when it is not known.
  const std::string& memory(const std::optional<trace::MemoryKind>& kind) {
    const auto [entry, is_new] = memory_.try_emplace(kind);
    const std::string text = is_new ? trace_.memory(kind) : std::string();
    if (!text.empty()) entry->second = json_string(text);
    return entry->second;
  }
  /// As arguments that follow others; empty for what could not be attributed.
  [[nodiscard]] const std::string& place(trace::PlaceIndex index) const { return places_[index]; }

 private:
  static std::string place_text(const trace::Place& place) {
    std::string text;
    if (!place.op.empty()) text += fmt::format(R"(,"op":{})", json_string(place.op));
    if (!place.part.empty()) text += fmt::format(R"(,"part":{})", json_string(place.part));
    return text;
  }

  const Trace& trace_;
  std::vector<std::string> texts_;
  std::vector<std::string> places_;
  std::map<trace::TransferKind, std::string> operations_;
  std::map<std::optional<trace::MemoryKind>, std::string> memory_;
};

/// What a slice of a kernel is called: its own name, with template arguments only where two are called alike.
std::unordered_map<NameIndex, std::string> short_kernel_names(const Trace& trace) {
  std::map<NameIndex, std::string> whole;
  for (const trace::KernelRow& row : trace.kernels.rows()) {
    const NameIndex name = trace.kernels.shared(row).name;
    whole.try_emplace(name, trace.names[name]);
  }
  std::vector<KernelName> all;
  for (const auto& [index, name] : whole) all.push_back(kernel_name_of_demangled(name));
  const std::vector<std::string> names = distinct_names(all);
  std::unordered_map<NameIndex, std::string> quoted_names;
  std::size_t next = 0;
  for (const auto& [index, name] : whole) quoted_names[index] = json_string(names[next++]);
  return quoted_names;
}

class PerfettoFile {
 public:
  PerfettoFile(const ExportedTrace& traced, const std::filesystem::path& path)
      : trace_(traced.rows), names_(trace_), kernel_names_(short_kernel_names(trace_)), file_(path) {}

  void begin(const Run& run) {
    // Perfetto ignores what follows a key that it does not know.
    constexpr const char* about_time =
        "Each case starts at 0: the cases ran one after the other, and stand together for comparison.";
    const nlohmann::ordered_json about{{"made_by", "mprof export"},
                                       {"run_started", format::one_line(run.started)},
                                       {"machine", format::short_id(machine_name(run))},
                                       {"time", about_time}};
    file_.write(
        fmt::format("{{\"displayTimeUnit\":\"ns\",\n\"otherData\":{},\n\"traceEvents\":[", about.dump()));
  }

  void add_case(const ExportedCase& one) {
    next_id_ = pid_ = (next_id_ / ids_of_a_case + 1) * ids_of_a_case;
    zero_ = one.start;
    calls_.clear();
    describe_process(one);
    for (const Row& row : rows_of(one)) add_row(row);
    for (const Row& row : queues_of(one)) add_row(row);
  }

  void end() {
    file_.write("\n]}\n");
    file_.commit();
  }

 private:
  /// Where a call is drawn, for arrows from it.
  struct DrawnCall {
    std::uint64_t tid = 0;
    std::int64_t start = 0;
    bool runtime = false;
  };

  /// Enough that the ids of a case begin with its number; a case with more tracks takes of the next ones'.
  static constexpr std::uint64_t ids_of_a_case = 1000;

  template <class... Values>
  void event(fmt::format_string<Values...> text, const Values&... values) {
    line_.clear();
    line_.append(std::string_view(first_ ? "\n" : ",\n"));
    first_ = false;
    fmt::vformat_to(std::back_inserter(line_), text, fmt::make_format_args(values...));
    file_.write({line_.data(), line_.size()});
  }
  [[nodiscard]] std::string at(std::int64_t time) const { return format::microseconds(time - zero_); }

  void describe_process(const ExportedCase& one) {
    ++processes_;
    const auto describe = [&](std::string_view what, std::string_view key, const std::string& value) {
      event(R"({{"ph":"M","name":"{}","pid":{},"args":{{"{}":{}}}}})", what, pid_, key, value);
    };
    describe("process_name", "name", json_string(one.result->id));
    describe("process_sort_index", "sort_index", fmt::format("{}", processes_));
    if (!one.result->ok()) {
      describe(
          "process_labels", "labels",
          json_string(one.result->status == Status::wrong ? "output wrong" : to_string(one.result->status)));
    }
  }

  /// The rows of the host: ranges and calls of each thread, then the ranges that begin and end anywhere.
  [[nodiscard]] std::vector<Row> rows_of(const ExportedCase& one) const {
    std::map<std::int64_t, std::vector<Slice>> threads, free_ranges;
    for (const std::uint32_t i : one.ranges) {
      const trace::Range& range = trace_.ranges[i];
      auto& into = range.style == trace::RangeStyle::push_pop ? threads : free_ranges;
      into[range.thread].push_back({range.time, i, Kind::range});
    }
    for (const std::uint32_t i : one.calls)
      threads[trace_.calls[i].thread].push_back({trace_.calls[i].time, i, Kind::call});
    std::vector<Row> rows;
    for (auto& [thread, slices] : threads)
      rows.push_back({fmt::format("host thread {}", trace::nsys::native_thread(thread)), Nesting::allowed,
                      std::move(slices)});
    for (Row& row : rows) sort_for_nesting(row.slices);
    // The thread that began first is the one that runs the case.
    std::ranges::stable_sort(rows, {}, [](const Row& row) { return row.slices.front().time.start; });
    for (auto& [thread, slices] : free_ranges) {
      sort_for_nesting(slices);
      rows.push_back({fmt::format("start/end ranges of thread {}", trace::nsys::native_thread(thread)),
                      Nesting::allowed, std::move(slices)});
    }
    return rows;
  }

  /// The rows of the GPUs: one for each stream.
  [[nodiscard]] std::vector<Row> queues_of(const ExportedCase& one) const {
    std::map<trace::Queue, std::vector<Slice>> queues;
    const auto add = [&](const auto& row, std::uint32_t index, Kind kind) {
      queues[row.queue].push_back({row.time, index, kind});
    };
    for (const std::uint32_t i : one.kernels) {
      const trace::KernelRow& row = trace_.kernels.rows()[i];
      queues[trace_.kernels.shared(row).queue].push_back({row.time, i, Kind::kernel});
    }
    for (const std::uint32_t i : one.transfers) add(trace_.transfers[i], i, Kind::transfer);
    std::map<std::uint32_t, std::set<std::uint32_t>> contexts;  // by device
    for (const auto& [queue, slices] : queues) contexts[queue.device].insert(queue.context);
    std::vector<Row> rows;
    for (auto& [queue, slices] : queues) {
      const std::string of_context =
          contexts[queue.device].size() > 1 ? fmt::format(", context {}", queue.context) : std::string();
      sort_for_nesting(slices);
      rows.push_back({fmt::format("GPU {}{}, stream {}", queue.device, of_context, queue.stream),
                      Nesting::none, std::move(slices)});
    }
    return rows;
  }

  void add_row(const Row& row) {
    SliceLanes lanes(row.nesting);
    std::vector<std::uint64_t> tids;
    for (const Slice& slice : row.slices) {
      const std::size_t lane = lanes.place(slice.time);
      if (lane == tids.size()) {
        tids.push_back(++next_id_);
        describe_thread(lane == 0 ? row.name : fmt::format("{} ({})", row.name, lane + 1));
      }
      add_slice(slice, tids[lane]);
    }
  }

  void describe_thread(const std::string& name) {
    event(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}}}})", pid_, next_id_,
          json_string(name));
    event(R"({{"ph":"M","name":"thread_sort_index","pid":{},"tid":{},"args":{{"sort_index":{}}}}})", pid_,
          next_id_, next_id_ - pid_);
  }

  void add_slice(const Slice& slice, std::uint64_t tid) {
    switch (slice.kind) {
      case Kind::range:
        return add_range(trace_.ranges[slice.index], tid);
      case Kind::call:
        return add_call(trace_.calls[slice.index], tid);
      case Kind::kernel:
        return add_kernel(trace_.kernels[slice.index], tid);
      case Kind::transfer:
        return add_transfer(trace_.transfers[slice.index], tid);
    }
  }

  /// All that kinds of slices have in common; `arguments` is what stands within the braces.
  void add_complete(std::string_view category, std::string_view name, const trace::Interval& time,
                    std::uint64_t tid, std::string_view arguments) {
    event(R"({{"ph":"X","cat":"{}","name":{},"pid":{},"tid":{},"ts":{},"dur":{},"args":{{{}}}}})", category,
          name, pid_, tid, at(time.start), format::microseconds(time.length()), arguments);
  }

  void add_range(const trace::Range& range, std::uint64_t tid) {
    add_complete("nvtx", names_[range.name], range.time, tid, "");
  }

  void add_call(const trace::Call& call, std::uint64_t tid) {
    const bool runtime = call.api == trace::Api::runtime;
    std::string arguments = fmt::format(R"("correlation":{})", call.correlation);
    if (call.result) arguments += fmt::format(R"(,"result":{})", *call.result);
    arguments += names_.place(call.place);
    add_complete(runtime ? "cuda_runtime" : "cuda_driver", names_[call.name], call.time, tid, arguments);
    const auto [entry, is_new] =
        calls_.try_emplace(call.correlation, DrawnCall{tid, call.time.start, runtime});
    // The runtime's call stands for the driver's within it.
    if (!is_new && runtime && !entry->second.runtime) entry->second = {tid, call.time.start, runtime};
  }

  void add_kernel(const trace::Kernel& kernel, std::uint64_t tid) {
    std::string arguments = fmt::format(R"("kernel":{})", names_[kernel.name]);
    const auto add_size = [&](std::string_view key, const auto& size) {
      if (size) arguments += fmt::format(R"(,"{}":[{},{},{}])", key, (*size)[0], (*size)[1], (*size)[2]);
    };
    const auto add_number = [&](std::string_view key, const auto& number) {
      if (number) arguments += fmt::format(R"(,"{}":{})", key, *number);
    };
    add_size("grid", kernel.grid);
    add_size("block", kernel.block);
    add_number("registers_per_thread", kernel.registers_per_thread);
    add_number("static_shared_memory_bytes", kernel.static_shared_memory);
    add_number("dynamic_shared_memory_bytes", kernel.dynamic_shared_memory);
    add_work("kernel", kernel_names_.at(kernel.name), kernel, tid, arguments);
  }

  void add_transfer(const trace::Transfer& transfer, std::uint64_t tid) {
    std::string arguments = fmt::format(R"("bytes":{})", transfer.bytes);
    if (transfer.time.length() > 0) {
      const double seconds = static_cast<double>(transfer.time.length()) * 1e-9;
      arguments += fmt::format(R"(,"bytes_per_second":{})",
                               format::plain(static_cast<double>(transfer.bytes) / seconds, 0));
    } else {
      arguments += R"(,"bytes_per_second_absent":"it took no time that the clock shows")";
    }
    const auto add_memory = [&](std::string_view key, const std::string& memory) {
      if (!memory.empty()) arguments += fmt::format(R"(,"{}":{})", key, memory);
    };
    add_memory("source_memory", names_.memory(transfer.source));
    add_memory("destination_memory", names_.memory(transfer.destination));
    add_work("transfer", names_.operation(transfer.kind), transfer, tid, arguments);
  }

  /// A slice of a GPU's stream, with an arrow from the call that asked for it.
  template <class Work>
  void add_work(std::string_view category, std::string_view name, const Work& work, std::uint64_t tid,
                std::string arguments) {
    arguments +=
        fmt::format(R"(,"device":{},"context":{},"stream":{},"correlation":{}{})", work.queue.device,
                    work.queue.context, work.queue.stream, work.correlation, names_.place(work.place));
    add_complete(category, name, work.time, tid, arguments);
    const auto call = calls_.find(work.correlation);
    // Clocks of CPU and GPU differ a little: an arrow that ends before it starts is none.
    if (call == calls_.end() || work.time.start < call->second.start) return;
    ++arrows_;
    event(R"({{"ph":"s","cat":"launch","name":"launch","id":{},"pid":{},"tid":{},"ts":{}}})", arrows_, pid_,
          call->second.tid, at(call->second.start));
    event(R"({{"ph":"f","bp":"e","cat":"launch","name":"launch","id":{},"pid":{},"tid":{},"ts":{}}})",
          arrows_, pid_, tid, at(work.time.start));
  }

  const Trace& trace_;
  QuotedNames names_;
  std::unordered_map<NameIndex, std::string> kernel_names_;
  FileWriter file_;
  fmt::memory_buffer line_;
  bool first_ = true;
  std::int64_t zero_ = 0;  ///< ns, the start of the case
  std::uint64_t pid_ = 0;
  std::uint64_t next_id_ = 0;  ///< the last one used, of processes and threads alike
  std::uint64_t processes_ = 0;
  std::uint64_t arrows_ = 0;
  std::unordered_map<std::int64_t, DrawnCall> calls_;  ///< of the case, by correlation id
};

}  // namespace

void write_perfetto(const ExportScope& scope, const ExportedTrace& traced,
                    const std::filesystem::path& file) {
  PerfettoFile perfetto(traced, file);
  perfetto.begin(scope.run());
  for (const ExportedCase& one : traced.cases) perfetto.add_case(one);
  perfetto.end();
}

}  // namespace mprof
