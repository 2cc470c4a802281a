// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "model/kernel_name.hpp"
#include "model/trace/id_map.hpp"
#include "model/trace/nsys_schema.hpp"
#include "report/analysis/machines/environment.hpp"
#include "report/export/export.hpp"
#include "report/export/perfetto_sink.hpp"
#include "report/text/format.hpp"
#include "report/trace/slice_lanes.hpp"

/// Every case is a process, every host thread and every stream of a GPU a thread of it.
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
  std::uint32_t place = 0;  ///< of a call: among those of its case
};

/// Outer slices before inner ones: a call that takes as long as its range lies in it.
void sort_for_nesting(std::vector<Slice>& slices) {
  const auto order = [](const Slice& slice) {
    return std::tuple(slice.time.start, -slice.time.end, slice.kind);
  };
  if (!std::ranges::is_sorted(slices, {}, order)) std::ranges::stable_sort(slices, {}, order);
}

/// A row of the timeline before it is split into lanes.
struct Row {
  std::string name;
  Nesting nesting = Nesting::allowed;
  std::vector<Slice> slices;
};

/// The texts of a trace as the file knows them, each made once.
class PerfettoNames {
 public:
  PerfettoNames(const Trace& trace, PerfettoSink& sink)
      : trace_(trace), sink_(sink), texts_(trace.names.size()) {
    for (const trace::Place& place : trace.places)
      places_.push_back({made(std::string(place.op)), made(std::string(place.part))});
  }

  PerfettoText operator[](NameIndex index) {
    PerfettoText& text = texts_[index];
    if (text == 0) text = sink_.text(format::one_line(trace_.names[index]));
    return text;
  }
  PerfettoText operation(trace::TransferKind kind) {
    PerfettoText& text = operations_[kind];
    if (text == 0) text = made(trace_.operation(kind));
    return text;
  }
  /// 0 when it is not known.
  PerfettoText memory(const std::optional<trace::MemoryKind>& kind) {
    const auto [entry, is_new] = memory_.try_emplace(kind, 0);
    if (is_new) entry->second = made(trace_.memory(kind));
    return entry->second;
  }
  struct PlaceTexts {
    PerfettoText op = 0, part = 0;
  };
  [[nodiscard]] const PlaceTexts& place(trace::PlaceIndex index) const { return places_[index]; }

 private:
  PerfettoText made(const std::string& text) { return text.empty() ? 0 : sink_.text(format::one_line(text)); }

  const Trace& trace_;
  PerfettoSink& sink_;
  std::vector<PerfettoText> texts_;
  std::vector<PlaceTexts> places_;
  std::map<trace::TransferKind, PerfettoText> operations_;
  std::map<std::optional<trace::MemoryKind>, PerfettoText> memory_;
};

/// What a slice of a kernel is called: its own name, with template arguments only where two are called alike.
std::unordered_map<NameIndex, PerfettoText> short_kernel_names(const Trace& trace, PerfettoSink& sink) {
  std::map<NameIndex, std::string> whole;
  for (const trace::KernelRow& row : trace.kernels.rows()) {
    const NameIndex name = trace.kernels.shared(row).name;
    whole.try_emplace(name, trace.names[name]);
  }
  std::vector<KernelName> all;
  for (const auto& [index, name] : whole) all.push_back(kernel_name_of_demangled(name));
  const std::vector<std::string> names = distinct_names(all);
  std::unordered_map<NameIndex, PerfettoText> known;
  std::size_t next = 0;
  for (const auto& [index, name] : whole) known[index] = sink.text(format::one_line(names[next++]));
  return known;
}

/// Which call led to which work, and the ids of the arrows between them.
class Arrows {
 public:
  /// `next`: the first id that is free, before and after.
  Arrows(const Trace& trace, const ExportedCase& one, std::uint64_t& next) : trace_(trace) {
    for (std::uint32_t i = 0; i < one.calls.size(); ++i) {
      const trace::Call& call = trace.calls[one.calls[i]];
      std::uint32_t& known = calls_(0, call.correlation);
      // The runtime's call stands for the driver's within it.
      const bool is_outer =
          known != 0 && call.api == trace::Api::runtime && drawn_[known - 1].api != trace::Api::runtime;
      drawn_.push_back({.call = one.calls[i], .api = call.api});
      if (known == 0 || is_outer) known = i + 1;
    }
    for (const std::uint32_t i : one.kernels) {
      const trace::KernelRow& row = trace.kernels.rows()[i];
      if (Drawn* const call = caller(trace.kernels.correlation(row), row.time)) ++call->arrows;
    }
    for (const std::uint32_t i : one.transfers) {
      const trace::Transfer& row = trace.transfers[i];
      if (Drawn* const call = caller(row.correlation, row.time)) ++call->arrows;
    }
    for (Drawn& call : drawn_) {
      call.first = call.next = next;
      next += call.arrows;
    }
  }

  /// `place`: among the calls of the case.
  void begin(PerfettoSlice& slice, std::uint32_t place) {
    Drawn& call = drawn_[place];
    call.thread = static_cast<std::uint32_t>(slice.thread);
    slice.first_arrow = call.first;
    slice.arrows = call.arrows;
  }
  /// From the call of some work, which was drawn before.
  void end(PerfettoSlice& slice, std::int64_t correlation, const trace::Interval& time, std::int64_t zero) {
    Drawn* const call = caller(correlation, time);
    if (call == nullptr) return;
    slice.arrow = {call->next++, call->thread, trace_.calls[call->call].time.start - zero};
  }

 private:
  struct Drawn {
    std::uint64_t first = 0, next = 0;  ///< ids of arrows
    std::uint32_t arrows = 0;
    std::uint32_t call = 0;
    std::uint32_t thread = 0;
    trace::Api api = trace::Api::runtime;
  };

  /// Clocks of CPU and GPU differ a little: an arrow that ends before it starts is none.
  Drawn* caller(std::int64_t correlation, const trace::Interval& time) {
    const std::uint32_t known = calls_.find(0, correlation);
    if (known == 0 || time.start < trace_.calls[drawn_[known - 1].call].time.start) return nullptr;
    return &drawn_[known - 1];
  }

  const Trace& trace_;
  trace::IdMap calls_;  ///< their places in the case from 1 on, by correlation id
  std::vector<Drawn> drawn_;
};

class PerfettoFile {
 public:
  PerfettoFile(const ExportedTrace& traced, PerfettoSink& sink)
      : trace_(traced.rows),
        sink_(sink),
        names_(trace_, sink),
        kernel_names_(short_kernel_names(trace_, sink)) {}

  void begin(const Run& run) {
    sink_.about({{"made_by", "mprof export"},
                 {"run_started", format::one_line(run.started)},
                 {"machine", format::short_id(machine_name(run))},
                 {"time",
                  "Each case starts at 0: the cases ran one after the other, and stand together for "
                  "comparison."}});
  }

  void add_case(const ExportedCase& one) {
    next_id_ = pid_ = (next_id_ / ids_of_a_case + 1) * ids_of_a_case;
    zero_ = one.start;
    arrows_.emplace(trace_, one, next_arrow_);
    describe_process(one);
    for (const Row& row : rows_of(one)) add_row(row);
    for (const Row& row : queues_of(one)) add_row(row);
    for (const std::uint32_t i : one.gpu_samples) add_samples(trace_.gpu_samples[i]);
  }

 private:
  /// Enough that the ids of a case begin with its number; a case with more tracks uses those of the next
  /// case.
  static constexpr std::uint64_t ids_of_a_case = 1000;

  void describe_process(const ExportedCase& one) {
    const CaseResult& result = *one.result;
    std::string_view label;
    if (!result.ok()) label = result.status == Status::wrong ? "output wrong" : to_string(result.status);
    sink_.process(pid_, format::one_line(result.id), ++processes_, format::one_line(label));
  }

  /// The rows of the host: ranges and calls of each thread, then the ranges that begin and end anywhere.
  [[nodiscard]] std::vector<Row> rows_of(const ExportedCase& one) const {
    std::map<std::int64_t, std::vector<Slice>> threads, free_ranges;
    for (const std::uint32_t i : one.ranges) {
      const trace::Range& range = trace_.ranges[i];
      auto& into = range.style == trace::RangeStyle::push_pop ? threads : free_ranges;
      into[range.thread].push_back({range.time, i, Kind::range});
    }
    for (std::uint32_t i = 0; i < one.calls.size(); ++i) {
      const trace::Call& call = trace_.calls[one.calls[i]];
      threads[call.thread].push_back({call.time, one.calls[i], Kind::call, i});
    }
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

  /// A track for each metric. Perfetto knows no gaps: the value before one stays until its end.
  void add_samples(const trace::GpuSamples& samples) {
    for (const trace::GpuCurve& curve : samples.curves) {
      ++next_id_;
      sink_.counter(next_id_, format::one_line(fmt::format("GPU {}: {}", samples.device, curve.name)),
                    next_id_ - pid_);
      for (std::size_t i = 0; i < samples.times.size(); ++i) {
        if (std::isnan(curve.values[i]) || samples.times[i].start < zero_) continue;
        sink_.count(next_id_, samples.times[i].start - zero_, double{curve.values[i]});
      }
    }
  }

  void add_row(const Row& row) {
    SliceLanes lanes(row.nesting);
    std::vector<std::uint64_t> threads;
    for (const Slice& slice : row.slices) {
      const std::size_t lane = lanes.place(slice.time);
      if (lane == threads.size()) {
        threads.push_back(++next_id_);
        sink_.thread(next_id_,
                     format::one_line(lane == 0 ? row.name : fmt::format("{} ({})", row.name, lane + 1)),
                     next_id_ - pid_);
      }
      add_slice(slice, threads[lane]);
    }
    sink_.end_threads();
  }

  void add_slice(const Slice& slice, std::uint64_t thread) {
    PerfettoSlice drawn{.time = {slice.time.start - zero_, slice.time.end - zero_}, .thread = thread};
    arguments_.clear();
    switch (slice.kind) {
      case Kind::range:
        drawn.category = "nvtx";
        drawn.name = names_[trace_.ranges[slice.index].name];
        break;
      case Kind::call:
        describe(trace_.calls[slice.index], drawn);
        arrows_->begin(drawn, slice.place);
        break;
      case Kind::kernel:
        describe(trace_.kernels[slice.index], drawn);
        break;
      case Kind::transfer:
        describe(trace_.transfers[slice.index], drawn);
        break;
    }
    drawn.arguments = arguments_;
    sink_.slice(drawn);
  }

  void add_number(std::string_view name, std::int64_t number) { arguments_.push_back({name, number}); }
  void add_text(std::string_view name, PerfettoText text) {
    if (text != 0) arguments_.push_back({name, text});
  }
  void add_place(trace::PlaceIndex place) {
    add_text("op", names_.place(place).op);
    add_text("part", names_.place(place).part);
  }

  void describe(const trace::Call& call, PerfettoSlice& drawn) {
    drawn.category = call.api == trace::Api::runtime ? "cuda_runtime" : "cuda_driver";
    drawn.name = names_[call.name];
    add_number("correlation", call.correlation);
    if (call.result) add_number("result", *call.result);
    add_place(call.place);
  }

  void describe(const trace::Kernel& kernel, PerfettoSlice& drawn) {
    drawn.category = "kernel";
    drawn.name = kernel_names_.at(kernel.name);
    add_text("kernel", names_[kernel.name]);
    if (kernel.grid) arguments_.push_back({"grid", *kernel.grid});
    if (kernel.block) arguments_.push_back({"block", *kernel.block});
    const auto add_known = [&](std::string_view name, const std::optional<std::uint32_t>& number) {
      if (number) add_number(name, *number);
    };
    add_known("registers_per_thread", kernel.registers_per_thread);
    add_known("static_shared_memory_bytes", kernel.static_shared_memory);
    add_known("dynamic_shared_memory_bytes", kernel.dynamic_shared_memory);
    describe_work(kernel, drawn);
  }

  void describe(const trace::Transfer& transfer, PerfettoSlice& drawn) {
    drawn.category = "transfer";
    drawn.name = names_.operation(transfer.kind);
    add_number("bytes", static_cast<std::int64_t>(transfer.bytes));
    if (transfer.time.length() > 0) {
      const double seconds = static_cast<double>(transfer.time.length()) * 1e-9;
      add_number("bytes_per_second",
                 static_cast<std::int64_t>(std::nearbyint(static_cast<double>(transfer.bytes) / seconds)));
    } else {
      if (no_time_ == 0) no_time_ = sink_.text("it took no time that the clock shows");
      add_text("bytes_per_second_absent", no_time_);
    }
    add_text("source_memory", names_.memory(transfer.source));
    add_text("destination_memory", names_.memory(transfer.destination));
    describe_work(transfer, drawn);
  }

  /// A slice of a GPU's stream, with an arrow from the call that asked for it.
  template <class Work>
  void describe_work(const Work& work, PerfettoSlice& drawn) {
    add_number("device", work.queue.device);
    add_number("context", work.queue.context);
    add_number("stream", work.queue.stream);
    add_number("correlation", work.correlation);
    add_place(work.place);
    arrows_->end(drawn, work.correlation, work.time, zero_);
  }

  const Trace& trace_;
  PerfettoSink& sink_;
  PerfettoNames names_;
  std::unordered_map<NameIndex, PerfettoText> kernel_names_;
  std::vector<PerfettoArgument> arguments_;
  std::optional<Arrows> arrows_;  ///< of the case
  PerfettoText no_time_ = 0;
  std::int64_t zero_ = 0;  ///< ns, the start of the case
  std::uint64_t pid_ = 0;
  std::uint64_t next_id_ = 0;  ///< the last one used, of processes and threads alike
  std::uint64_t processes_ = 0;
  std::uint64_t next_arrow_ = 1;  ///< ids hold in the whole file
};

}  // namespace

void write_perfetto(const ExportScope& scope, const ExportedTrace& traced, PerfettoSink& sink) {
  PerfettoFile perfetto(traced, sink);
  perfetto.begin(scope.run());
  for (const ExportedCase& one : traced.cases) perfetto.add_case(one);
  sink.commit();
}

}  // namespace mprof
