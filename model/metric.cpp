// SPDX-License-Identifier: MIT
#include "model/metric.hpp"

#include <algorithm>
#include <array>

#include "model/metric_presets.hpp"

namespace mprof {
namespace {

constexpr std::array of_no_trace{
    Metric{
        "op_time", "Op time", Unit::second, Better::lower, Combine::sum,
        "Device time of forward() of one op. On the CPU the host's clock measures it. On a GPU its events "
        "do, around work that the GPU begins once it has been given all of it, where that can be done. The "
        "timer overhead is subtracted where the run has that row."},
    Metric{"launched_op_time", "Op time as launched", Unit::second, Better::lower, Combine::sum,
           "Op time of the forward() that the host times hold: unlike the op time with the gaps that "
           "launching leaves."},
    Metric{"timer_overhead", "Timer overhead", Unit::second, Better::neither, Combine::never,
           "What the timer of a GPU reads around nothing, measured in each process; no op time holds it."},
    Metric{"group_time", "Group time", Unit::second, Better::lower, Combine::sum,
           "Host time of prepare() + forward() + finish() of one op: allocation, copies in, kernels, copies "
           "out, frees."},
    Metric{"total_time", "Total execution time", Unit::second, Better::lower, Combine::never,
           "Host time of one whole execution, from input to output."},
    Metric{"first_op_time", "First op time", Unit::second, Better::lower, Combine::sum,
           "Op time of the first, verified execution: with lazy loading, page faults and cold caches."},
    Metric{"hot_op_time", "Hot op time", Unit::second, Better::lower, Combine::sum,
           "Op time right after the same op, with what that one has left in the caches (--hot)."},
    Metric{"flops", "FLOPs", Unit::flop, Better::neither, Combine::sum,
           "Floating-point operations that the op's definition needs; a multiply-add counts as two."},
    Metric{"bytes", "Bytes", Unit::byte, Better::neither, Combine::sum,
           "Bytes that the op must move at least: each input read once, each output written once."},
    Metric{"flop_rate", "FLOP rate", Unit::flop_per_second, Better::higher, Combine::never,
           "flops / op_time: the useful work, whatever the variant really executed."},
    Metric{"byte_rate", "Byte rate", Unit::byte_per_second, Better::higher, Combine::never,
           "bytes / op_time: the useful traffic, whatever the variant really moved."},
    Metric{"special_operations", "Special-function operations", Unit::count, Better::neither, Combine::sum,
           "Evaluations of functions that hardware has units of their own for, which the op's definition "
           "needs."},
    Metric{"special_rate", "Special-function rate", Unit::per_second, Better::higher, Combine::never,
           "special_operations / op_time: the useful evaluations, however the variant really made them."},
    Metric{"special_throughput", "Special-function throughput", Unit::percent, Better::higher, Combine::never,
           "special_rate, of the evaluations that the variant's algorithm needs, as a percentage of the "
           "special-function rate measured at the start of the run."},
    Metric{"compute_throughput", "Compute throughput", Unit::percent, Better::higher, Combine::never,
           "flop_rate as a percentage of the FP32 peak measured at the start of the run."},
    Metric{"memory_throughput", "Memory throughput", Unit::percent, Better::higher, Combine::never,
           "byte_rate as a percentage of the memory bandwidth measured at the start of the run."},
    Metric{"user_time", "User CPU time", Unit::second, Better::lower, Combine::never,
           "CPU time in user mode of one execution, all threads (getrusage)."},
    Metric{"system_time", "System CPU time", Unit::second, Better::lower, Combine::never,
           "CPU time in the kernel for one execution, all threads (getrusage)."},
    Metric{"minor_page_faults", "Minor page faults", Unit::count, Better::lower, Combine::never,
           "Page faults of one execution served without I/O (getrusage)."},
    Metric{"major_page_faults", "Major page faults", Unit::count, Better::lower, Combine::never,
           "Page faults of one execution that needed I/O (getrusage)."},
    Metric{
        "peak_memory", "Process's peak memory", Unit::byte, Better::lower, Combine::max,
        "High-water mark of the worker process's resident set up to the end of the case, whatever reached "
        "it: the verification and earlier work of that process too (getrusage). It is not the case's own."},
    Metric{"other_cpu_load", "CPUs used by others", Unit::count, Better::lower, Combine::never,
           "How many of the CPUs that the case may use other processes kept busy while it was sampled: what "
           "/proc/stat counts without the worker's own CPU time."},
    Metric{"cpu_steal", "Stolen CPU time", Unit::percent, Better::lower, Combine::never,
           "Share of these CPUs' time that a hypervisor gave to others (/proc/stat)."},
    Metric{"cpu_pressure", "CPU pressure", Unit::percent, Better::lower, Combine::never,
           "Share of the time in which some task of the machine, the case's own threads included, waited for "
           "a CPU (/proc/pressure/cpu)."},
    Metric{"cpu_wait", "Wait for CPUs", Unit::second, Better::lower, Combine::never,
           "How long the threads of one execution, or of an op's forward(), could have run and had no CPU, "
           "all of them together "
           "(/proc/self/task/TID/schedstat)."},
    Metric{"cycles", "CPU cycles", Unit::count, Better::lower, Combine::sum,
           "User-mode CPU cycles of forward(), all threads (perf_event_open)."},
    Metric{"instructions", "Instructions", Unit::count, Better::lower, Combine::sum,
           "User-mode instructions retired in forward(), all threads (perf_event_open)."},
    Metric{"cache_misses", "Cache misses", Unit::count, Better::lower, Combine::sum,
           "Last-level cache misses of forward(), all threads (perf_event_open)."},
    Metric{"gpu_sm_clock", "SM clock", Unit::hertz, Better::neither, Combine::never,
           "SM clock of the GPU before and after each sample (NVML)."},
    Metric{"gpu_measured_sm_clock", "SM clock by its cycles", Unit::hertz, Better::neither, Combine::never,
           "Cycles of one multiprocessor over the GPU's own time, in a spin of a millisecond behind each "
           "sample. Where it differs from the SM clock, that one is what was set, and this what it was."},
    Metric{"gpu_memory_clock", "Memory clock", Unit::hertz, Better::neither, Combine::never,
           "Memory clock of the GPU before and after each sample (NVML)."},
    Metric{"gpu_temperature", "GPU temperature", Unit::celsius, Better::neither, Combine::never,
           "Temperature of the GPU before and after each sample (NVML)."},
    Metric{"gpu_power", "GPU power", Unit::watt, Better::neither, Combine::never,
           "Power draw of the GPU's board before and after each sample (NVML)."},
    Metric{"gpu_throttled_samples", "Throttled samples", Unit::count, Better::lower, Combine::sum,
           "Samples before or after which NVML named a reason that makes the GPU slower than it could be."},
    Metric{"other_gpu_processes", "Other processes on the GPU", Unit::count, Better::lower, Combine::never,
           "Other processes that had a context on the GPU when the samples ended, busy or not (NVML)."},
    Metric{"other_gpu_share", "Multiprocessors used by others", Unit::percent, Better::lower, Combine::never,
           "Share of the multiprocessors' time that these processes had while the case was sampled (NVML)."},
    Metric{
        "smsp__pcsamp_sample_count", "Samples of the program counter", Unit::count, Better::neither,
        Combine::never,
        "How often a warp of the kernel was found at one of its instructions, sampled at regular intervals; "
        "named as Nsight Compute names it."},
    Metric{"own_launches", "Launches by own code", Unit::count, Better::neither, Combine::sum,
           "How often the variant's own code launched one kernel in an execution, counted at CUDA's runtime "
           "without a profiler; libraries' launches are not."},
};

constexpr std::array of_trace{
    Metric{"gpu_time", "GPU time", Unit::second, Better::lower, Combine::sum,
           "Union of the op's kernel intervals in the trace: what the GPU really worked, whoever launched it "
           "and wherever. CUPTI adds code to each block of a traced kernel: 100,000 blocks take some 9 "
           "microseconds longer for it (H200)."},
    Metric{"kernel_count", "Kernels", Unit::count, Better::neither, Combine::sum,
           "Kernels that ran for the op, each node of a graph counted."},
    Metric{"launch_count", "Launches", Unit::count, Better::lower, Combine::sum,
           "API calls that launched the op's kernels; a graph is one."},
    Metric{"kernel_time", "Kernel time", Unit::second, Better::lower, Combine::sum,
           "Sum of one kernel's durations in the op's trace, over all its launches."},
    Metric{"launch_time", "Time of a launch", Unit::second, Better::lower, Combine::never,
           "How long each launch of the kernel ran; of a program and of an imported profile, at most 1000 of "
           "them, evenly chosen."},
    Metric{
        "step_time", "Step time", Unit::second, Better::lower, Combine::never,
        "How long each step of a program took in the traced execution, without those in which it warmed up; "
        "of many, at most 1000 of them, evenly chosen. docs/how-it-works/programs.md says what a step is."},
    Metric{"step_gpu_share", "GPU in kernels in steps", Unit::ratio, Better::higher, Combine::never,
           "Share of the time of these steps in which a kernel ran (trace)."},
    Metric{"kernel_instances", "Kernel instances", Unit::count, Better::neither, Combine::sum,
           "How often one kernel ran in the op's trace."},
    Metric{"concurrent_streams", "Concurrent streams", Unit::count, Better::neither, Combine::max,
           "The most streams of the op that had work on the GPU at the same moment."},
    Metric{"copy_in_time", "Copy-in time", Unit::second, Better::lower, Combine::sum,
           "Time in which the GPU copied from the host for the op (trace)."},
    Metric{"copy_in_bytes", "Bytes copied in", Unit::byte, Better::lower, Combine::sum,
           "Bytes copied from the host to the device for the op (trace)."},
    Metric{"copy_out_time", "Copy-out time", Unit::second, Better::lower, Combine::sum,
           "Time in which the GPU copied to the host for the op (trace)."},
    Metric{"copy_out_bytes", "Bytes copied out", Unit::byte, Better::lower, Combine::sum,
           "Bytes copied from the device to the host for the op (trace)."},
    Metric{"copy_device_time", "Device copy time", Unit::second, Better::lower, Combine::sum,
           "Time of copies for the op that neither start nor end on the host alone: on the device, between "
           "devices (trace)."},
    Metric{"copy_device_bytes", "Bytes copied on the device", Unit::byte, Better::lower, Combine::sum,
           "Bytes of these copies (trace)."},
    Metric{
        "forward_copy_time", "Copy time in forward", Unit::second, Better::lower, Combine::sum,
        "Time in which the GPU copied from or to the host for the op's forward(): part of its op time, which "
        "others' op times do not hold (trace)."},
    Metric{"memset_time", "Memset time", Unit::second, Better::lower, Combine::sum,
           "Time in which the GPU set memory for the op (trace)."},
    Metric{"memset_bytes", "Bytes set", Unit::byte, Better::lower, Combine::sum,
           "Bytes of device memory set for the op (trace)."},
    Metric{
        "gpu_memory", "GPU memory", Unit::byte, Better::lower, Combine::max,
        "Memory of the GPU that the execution had allocated at its most, beyond what was allocated when it "
        "began (trace)."},
    Metric{"copy_overlap", "Copies under kernels", Unit::ratio, Better::higher, Combine::never,
           "Share of the op's copy time in which a kernel ran as well (trace)."},
    Metric{"api_call_count", "CUDA calls", Unit::count, Better::lower, Combine::sum,
           "CUDA calls made for the op; the driver calls within a runtime call are not counted (trace)."},
    Metric{"api_time", "CUDA call time", Unit::second, Better::lower, Combine::sum,
           "Host time in CUDA calls for the op, waiting included, on any thread (trace)."},
    Metric{"synchronization_time", "Synchronization time", Unit::second, Better::lower, Combine::sum,
           "Host time spent waiting for the GPU in synchronizing calls for the op (trace)."},
    Metric{"traced_group_time", "Traced group time", Unit::second, Better::neither, Combine::sum,
           "Host time of prepare() + forward() + finish() while traced; the seven rows that follow add up to "
           "it."},
    Metric{"gpu_kernel_time", "GPU in kernels", Unit::second, Better::neither, Combine::sum,
           "Part of the traced {group_time} in which a kernel ran."},
    Metric{"gpu_copy_only_time", "GPU copying only", Unit::second, Better::lower, Combine::sum,
           "Part of it in which the GPU copied or set memory and ran no kernel."},
    Metric{"gpu_idle_tracing_time", "GPU idle: tracing", Unit::second, Better::neither, Combine::sum,
           "Part of it in which the GPU did nothing while tracing or lazy loading kept the host busy."},
    Metric{"gpu_idle_synchronization_time", "GPU idle: synchronizing", Unit::second, Better::lower,
           Combine::sum,
           "Part of it in which the GPU did nothing while the host was in a synchronizing call."},
    Metric{"gpu_idle_allocation_time", "GPU idle: allocating", Unit::second, Better::lower, Combine::sum,
           "Part of it in which the GPU did nothing while the host allocated or freed memory by CUDA."},
    Metric{"gpu_idle_api_time", "GPU idle: other CUDA calls", Unit::second, Better::lower, Combine::sum,
           "Part of it in which the GPU did nothing while the host was in another CUDA call: launches, "
           "staging of copies."},
    Metric{"gpu_idle_host_time", "GPU idle: host code", Unit::second, Better::lower, Combine::sum,
           "Part of it in which the GPU did nothing and the host was in no CUDA call."},
    Metric{"gpu_kernel_alone_time", "GPU in kernels alone", Unit::second, Better::neither, Combine::sum,
           "Part of the traced {group_time} in which a kernel of the op ran and no copy or memset beside it: "
           "all that faster kernels could save."},
    Metric{"trace_overhead", "Overhead of tracing", Unit::ratio, Better::lower, Combine::never,
           "Traced {group_time} over the median {group_time} of the timing pass, the sum of all ops."},
    Metric{"dropped_records", "Dropped records", Unit::count, Better::lower, Combine::sum,
           "Records that CUPTI found no buffer for: the trace lacks them."},
    Metric{"zero_time_records", "Records without a time", Unit::count, Better::lower, Combine::sum,
           "Records without a start or an end: counted, not used."},
    Metric{"reversed_records", "Reversed records", Unit::count, Better::lower, Combine::sum,
           "Records that end before they start: counted, not used."},
    Metric{"unattributed_records", "Unattributed records", Unit::count, Better::lower, Combine::sum,
           "Kernels, copies and memsets that could be attributed to nothing."},
    Metric{"attribution_disagreements", "Attribution disagreements", Unit::count, Better::lower, Combine::sum,
           "CUDA calls whose external correlation id names another place than their thread and time."},
};

constexpr auto catalogue = [] {
  std::array<Metric, of_no_trace.size() + of_trace.size()> all{};
  std::ranges::copy(of_trace, std::ranges::copy(of_no_trace, all.begin()).out);
  return all;
}();

}  // namespace

std::span<const Metric> metric_catalogue() {
  return catalogue;
}

const Metric* find_metric(std::string_view id) {
  for (const std::span<const Metric> rows : {metric_catalogue(), hardware_metrics()}) {
    const auto found = std::find_if(rows.begin(), rows.end(), [&](const Metric& m) { return m.id == id; });
    if (found != rows.end()) return &*found;
  }
  return nullptr;
}

bool is_of_trace(std::string_view id) {
  return std::ranges::find(of_trace, id, &Metric::id) != of_trace.end();
}

std::string_view unit_symbol(Unit unit) {
  switch (unit) {
    case Unit::second:
      return "s";
    case Unit::byte:
      return "B";
    case Unit::count:
      return "count";
    case Unit::ratio:
      return "1";
    case Unit::percent:
      return "%";
    case Unit::flop:
      return "FLOP";
    case Unit::flop_per_second:
      return "FLOP/s";
    case Unit::byte_per_second:
      return "B/s";
    case Unit::per_second:
      return "1/s";
    case Unit::watt:
      return "W";
    case Unit::celsius:
      return "°C";
    case Unit::hertz:
      return "Hz";
  }
  return "";
}

std::string_view to_string(Unit unit) {
  return unit_symbol(unit);
}

std::string_view to_string(Better better) {
  switch (better) {
    case Better::lower:
      return "lower";
    case Better::higher:
      return "higher";
    case Better::neither:
      break;
  }
  return "neither";
}

bool from_string(std::string_view text, Unit& value) {
  for (int i = 0; i <= static_cast<int>(Unit::celsius); ++i) {
    if (unit_symbol(static_cast<Unit>(i)) != text) continue;
    value = static_cast<Unit>(i);
    return true;
  }
  return false;
}

bool from_string(std::string_view text, Better& value) {
  for (const Better better : {Better::lower, Better::higher, Better::neither}) {
    if (to_string(better) != text) continue;
    value = better;
    return true;
  }
  return false;
}

}  // namespace mprof
