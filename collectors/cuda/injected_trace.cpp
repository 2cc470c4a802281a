// SPDX-License-Identifier: MIT
#include "collectors/cuda/injected_trace.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include <cupti_version.h>
#include <fmt/format.h>
#include <unistd.h>

#include "collectors/cuda/cupti_records.hpp"
#include "collectors/cuda/kernel_faults.hpp"
#include "collectors/native_lines.hpp"
#include "collectors/os_runtime.hpp"
#include "cuda/cupti.hpp"
#include "cuda/record_layout.hpp"
#include "device/device.hpp"
#include "model/trace/nsys_schema.hpp"
#include "model/trace/range_payloads.hpp"
#include "system/clock.hpp"

namespace mprof {
namespace {

constexpr std::size_t largest_record = 256;  // B

/// A record as CUPTI handed it over, with its texts.
class RestoredRecord {
 public:
  RestoredRecord(const std::string& bytes, const journal::Journal& journal) {
    CUpti_ActivityKind kind = CUPTI_ACTIVITY_KIND_INVALID;
    if (bytes.size() < sizeof kind || bytes.size() > largest_record) return;
    std::memcpy(&kind, bytes.data(), sizeof kind);
    const cuda::RecordLayout* const layout = cuda::record_layout(kind);
    if (layout == nullptr || layout->size != bytes.size()) return;
    std::memcpy(bytes_.data(), bytes.data(), bytes.size());
    for (const std::size_t at : layout->texts) {
      if (at != 0) point_to_text(at, journal);
    }
    is_whole_ = true;
  }
  /// nullptr for what is no record.
  [[nodiscard]] CUpti_Activity* get() {
    return is_whole_ ? reinterpret_cast<CUpti_Activity*>(bytes_.data()) : nullptr;
  }

 private:
  void point_to_text(std::size_t at, const journal::Journal& journal) {
    std::uint64_t number = 0;
    std::memcpy(&number, bytes_.data() + at, sizeof number);
    const auto found = journal.texts.find(number);
    const char* const text = found == journal.texts.end() ? nullptr : found->second.c_str();
    std::memcpy(bytes_.data() + at, &text, sizeof text);
  }

  alignas(8) std::array<char, largest_record> bytes_{};
  bool is_whole_ = false;
};

trace::Gpu gpu_of(const CUpti_ActivityDevice5& device) {
  constexpr std::uint64_t kilo = 1000;
  std::string uuid = "GPU-";
  for (std::size_t i = 0; i < sizeof device.uuid.bytes; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) uuid += '-';
    uuid += fmt::format("{:02x}", static_cast<unsigned char>(device.uuid.bytes[i]));
  }
  return {.id = device.id,
          .name = device.name != nullptr ? device.name : "",
          .uuid = uuid,
          .memory = std::uint64_t{device.globalMemorySize},
          .l2_cache = std::uint64_t{device.l2CacheSize},
          .memory_bandwidth = kilo * device.globalMemoryBandwidth,
          .clock_rate = kilo * device.coreClockRate,
          .multiprocessors = std::uint32_t{device.numMultiprocessors},
          .compute_major = std::uint32_t{device.computeCapabilityMajor},
          .compute_minor = std::uint32_t{device.computeCapabilityMinor},
          .threads_per_warp = std::uint32_t{device.numThreadsPerWarp},
          .copy_engines = std::uint32_t{device.numMemcpyEngines}};
}

void add_gpu(trace::Trace& trace, const CUpti_ActivityDevice5& device) {
  trace::Gpu gpu = gpu_of(device);
  const bool is_known = std::ranges::any_of(
      trace.gpus, [&](const trace::Gpu& other) { return other.uuid == gpu.uuid && other.id == gpu.id; });
  if (!is_known) trace.gpus.push_back(std::move(gpu));
}

/// What is still open when a journal ends has lasted until then.
trace::Interval window_of(const journal::Journal& journal) {
  return {0, journal.until > 0 ? journal.until : std::numeric_limits<std::int64_t>::max() / 8};
}

std::string call_name_of(const journal::Journal& journal, trace::Api api, std::uint32_t id) {
  const auto found = journal.calls.find({api == trace::Api::driver ? 1U : 0U, id});
  if (found != journal.calls.end()) return found->second;
  return fmt::format("{} call {}", api == trace::Api::runtime ? "runtime" : "driver", id);
}

/// From the first thing that a process asks of CUDA to the end of the call in which its first context was
/// made; nullopt where it made none.
std::optional<trace::Interval> cuda_start_of(const journal::Journal& journal,
                                             const std::vector<trace::Call>& calls) {
  const journal::Beginning& beginning = journal.beginning;
  if (beginning.cuda == 0 || beginning.context < beginning.cuda) return std::nullopt;
  trace::Interval start{beginning.cuda, beginning.context};
  for (const trace::Call& call : calls) {
    if (call.time.start <= beginning.context && call.time.end >= beginning.context)
      start = {std::min(start.start, call.time.start), std::max(start.end, call.time.end)};
  }
  return start;
}

/// What of a GPU neither ran in the window nor was launched in it goes: the library keeps what may have been.
void keep_window(trace::Trace& trace, const trace::Interval& window) {
  const auto overlaps = [&](const trace::Interval& time) {
    return time.end >= window.start && time.start <= window.end;
  };
  std::unordered_set<std::int64_t> called;
  for (const trace::Call& call : trace.calls) called.insert(call.correlation);
  std::erase_if(trace.kernels.rows(), [&](const trace::KernelRow& row) {
    return !overlaps(row.time) && !called.contains(trace.kernels.correlation(row));
  });
  std::erase_if(trace.transfers, [&](const trace::Transfer& row) {
    return !overlaps(row.time) && !called.contains(row.correlation);
  });
}

/// The edges of a window where the ranges begin that opened and closed it: CUPTI takes the time of a range
/// before it tells of it.
void begin_with_ranges(trace::Interval& window, const journal::Journal& journal, const trace::Trace& trace) {
  for (const journal::WindowEdge& edge : journal.window_edges) {
    std::int64_t& moment = edge.opens != 0 ? window.start : window.end;
    if (edge.thread == 0 || moment != edge.time) continue;
    const std::int64_t thread =
        trace::nsys::global_thread(trace::nsys::global_process(journal.head.process), edge.thread);
    std::int64_t last = 0;
    for (const trace::Range& range : trace.ranges) {
      if (range.thread == thread && range.time.start <= edge.time) last = std::max(last, range.time.start);
    }
    if (last > 0) moment = last;
  }
}

/// The stacks of a process, by the journal's numbers.
std::map<std::uint64_t, trace::StackIndex> add_stacks(const journal::Journal& journal, trace::Trace& trace) {
  std::map<std::uint64_t, trace::StackIndex> stacks{{0, trace::no_stack}};
  const auto name = [&](std::uint64_t text) {
    const auto found = journal.texts.find(text);
    return found == journal.texts.end() ? trace::NameIndex{0} : trace.names.index(found->second);
  };
  for (const auto& [number, stack] : journal.stacks) {
    std::vector<trace::StackFrame> frames;
    for (const journal::StackFrame& frame : stack) {
      const bool is_python = frame.address == 0;
      frames.push_back({.function = name(frame.function),
                        .module = is_python ? 0 : name(frame.file),
                        .file = is_python ? name(frame.file) : 0,
                        .line = frame.line,
                        .address = frame.address});
    }
    stacks[number] = trace.stacks.index(frames);
  }
  return stacks;
}

/// Each call of a launch has its stack: the runtime's, and the driver's within it.
void place_stacks(const journal::Journal& journal, const std::map<std::uint64_t, trace::StackIndex>& stacks,
                  trace::Trace& trace) {
  std::unordered_map<std::int64_t, trace::StackIndex> of_launches;
  for (const journal::StackOfLaunch& launch : journal.stacks_of_launches) {
    const auto stack = stacks.find(launch.stack);
    if (stack != stacks.end()) of_launches[launch.correlation] = stack->second;
  }
  for (trace::Call& call : trace.calls) {
    const auto stack = of_launches.find(call.correlation);
    if (stack != of_launches.end()) call.stack = stack->second;
  }
}

/// Adds what one process did.
void add_process(const journal::Journal& journal, InjectedPass& pass) {
  CuptiRecords records(journal.head.process);
  for (const std::string& bytes : journal.records) {
    RestoredRecord record(bytes, journal);
    CUpti_Activity* const activity = record.get();
    if (activity == nullptr) {
      ++pass.dropped;
    } else if (activity->kind == CUPTI_ACTIVITY_KIND_DEVICE) {
      add_gpu(pass.trace, reinterpret_cast<const CUpti_ActivityDevice5&>(*activity));
    } else {
      records.add(*activity);
    }
  }
  trace::Recording recording = records.take(
      window_of(journal), [&](trace::Api api, std::uint32_t id) { return call_name_of(journal, api, id); });
  trace::add_payloads(recording.trace, journal);
  if (auto window = journal::opened_window(journal)) {
    begin_with_ranges(*window, journal, recording.trace);
    keep_window(recording.trace, *window);
    if (!pass.part) pass.part = *window;
    pass.part =
        trace::Interval{std::min(pass.part->start, window->start), std::max(pass.part->end, window->end)};
  }
  for (const std::string& sentence : kernel_faults(journal, recording.trace))
    pass.notes.push_back(fmt::format("Process {}: {}", journal.head.process, sentence));
  if (const auto start = cuda_start_of(journal, recording.trace.calls)) pass.cuda_starts.push_back(*start);
  const auto stacks = add_stacks(journal, recording.trace);
  place_stacks(journal, stacks, recording.trace);
  for (const journal::GraphNode& node : journal.graph_nodes) {
    const auto stack = stacks.find(node.stack);
    recording.trace.graph_nodes.push_back(
        {.time = {node.time, node.time},
         .thread = trace::nsys::global_thread(trace::nsys::global_process(journal.head.process), node.thread),
         .id = node.id,
         .original = node.original,
         .stack = stack == stacks.end() ? trace::no_stack : stack->second});
  }
  trace::add_rows(pass.trace, recording.trace);
  trace::ProcessInfo& process = pass.trace.processes.emplace_back(
      trace::ProcessInfo{trace::nsys::global_process(journal.head.process), journal.name});
  if (journal.rank) {
    process.rank = journal.rank->rank;
    process.world_size = journal.rank->world_size;
  }
  pass.dropped += journal.dropped;
  if (!journal.has_ended && journal.until > 0)
    pass.notes.push_back(fmt::format(
        "Process {} ended without running its exit handlers (a signal, _exit): what it did in its last "
        "tenths of a second may be missing.",
        journal.head.process));
}

std::optional<std::string> unavailable() {
  const Device* const gpu = Devices::instance().find("cuda");
  if (gpu == nullptr) return "this build of mprof is without CUDA";
  return gpu->unavailable();  // a process may have a CUPTI where mprof finds none
}

std::map<std::string, std::string> variables(const std::filesystem::path& library,
                                             const InjectionRequest& request) {
  std::map<std::string, std::string> all = os_runtime::variables();
  if (request.plan.without_stacks) all[journal::stacks_variable] = "0";
  all["CUDA_INJECTION64_PATH"] = all["NVTX_INJECTION64_PATH"] = library.string();
  all[journal::cupti_variable] = cuda::cupti_library().path();
  return all;
}

/// Calls of the operating system too, of a program that uses CUDA or NVTX.
InjectedPass read(const InjectionRequest& request) {
  InjectedPass pass = read_injected_trace(journal::read_journals(request.folder));
  if (pass.trace.calls.empty() && pass.trace.ranges.empty()) return pass;
  find_native_lines(pass.trace, steady_clock());
  for (std::string& note : os_runtime::add_calls(request.folder, pass.trace))
    pass.notes.push_back(std::move(note));
  return pass;
}

const bool registered = (InjectionKinds::instance().add({
                             .pass = Pass::trace,
                             .library = "libmprof_trace.so",
                             .unavailable = unavailable,
                             .variables = variables,
                             .read = read,
                         }),
                         true);

}  // namespace

InjectedPass read_injected_trace(std::span<const journal::Journal> journals) {
  InjectedPass pass;
  for (const journal::Journal& journal : journals) {
    for (const std::string& note : journal.notes)
      pass.notes.push_back(fmt::format("Process {}: {}", journal.head.process, note));
    if (journal.head.cupti == CUPTI_API_VERSION) add_process(journal, pass);
  }
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) == 0) pass.trace.system["Hostname"] = host.data();
  return pass;
}

}  // namespace mprof
