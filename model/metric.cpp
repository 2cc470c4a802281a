#include "model/metric.hpp"

#include <algorithm>
#include <array>

namespace mprof {
namespace {

constexpr std::array catalogue{
    Metric{
        "op_time", "Op time", Unit::second, Better::lower, Combine::sum,
        "Device time of forward() of one layer: device events on a GPU, the host clock on the CPU device."},
    Metric{"layer_time", "Layer time", Unit::second, Better::lower, Combine::sum,
           "Host time of prepare() + forward() + finish() of one layer: allocation, copies in, kernels, "
           "copies out, "
           "frees."},
    Metric{"total_time", "Total execution time", Unit::second, Better::lower, Combine::never,
           "Host time of the whole inference of the batch, images in to accuracy out."},
    Metric{"first_op_time", "First op time", Unit::second, Better::lower, Combine::sum,
           "Op time of the first, checked execution: with lazy loading, page faults and cold caches."},
    Metric{"accuracy", "Accuracy", Unit::ratio, Better::higher, Combine::never,
           "Share of the batch's images whose predicted class is the labelled one."},
    Metric{"prediction_agreement", "Agreement with the reference", Unit::ratio, Better::higher,
           Combine::never,
           "Share of the batch's images whose predicted class is the one that PyTorch predicts in double "
           "precision."},
    Metric{"flops", "FLOPs", Unit::flop, Better::neither, Combine::sum,
           "Floating-point operations that the op's definition needs; a multiply-add counts as two."},
    Metric{"bytes", "Bytes", Unit::byte, Better::neither, Combine::sum,
           "Bytes that the op must move at the least: each input read once, each output written once."},
    Metric{"flop_rate", "FLOP rate", Unit::flop_per_second, Better::higher, Combine::never,
           "flops / op_time: the useful work, whatever the variant really executed."},
    Metric{"byte_rate", "Byte rate", Unit::byte_per_second, Better::higher, Combine::never,
           "bytes / op_time: the useful traffic, whatever the variant really moved."},
    Metric{"compute_throughput", "Compute throughput", Unit::percent, Better::higher, Combine::never,
           "flop_rate as a percentage of the FP32 peak measured at the start of the run."},
    Metric{"memory_throughput", "Memory throughput", Unit::percent, Better::higher, Combine::never,
           "byte_rate as a percentage of the memory bandwidth measured at the start of the run."},
    Metric{"user_time", "User CPU time", Unit::second, Better::lower, Combine::never,
           "CPU time in user mode of one inference, all threads (getrusage)."},
    Metric{"system_time", "System CPU time", Unit::second, Better::lower, Combine::never,
           "CPU time in the kernel for one inference, all threads (getrusage)."},
    Metric{"minor_page_faults", "Minor page faults", Unit::count, Better::lower, Combine::never,
           "Page faults of one inference served without I/O (getrusage)."},
    Metric{"major_page_faults", "Major page faults", Unit::count, Better::lower, Combine::never,
           "Page faults of one inference that needed I/O (getrusage)."},
    Metric{"peak_memory", "Peak memory", Unit::byte, Better::lower, Combine::max,
           "Largest resident set of the worker process up to the end of the case (getrusage)."},
    Metric{"cycles", "CPU cycles", Unit::count, Better::lower, Combine::sum,
           "User-mode CPU cycles of forward(), all threads (perf_event_open)."},
    Metric{"instructions", "Instructions", Unit::count, Better::lower, Combine::sum,
           "User-mode instructions retired in forward(), all threads (perf_event_open)."},
    Metric{"cache_misses", "Cache misses", Unit::count, Better::lower, Combine::sum,
           "Last-level cache misses of forward(), all threads (perf_event_open)."},
};

}  // namespace

std::span<const Metric> metric_catalogue() {
  return catalogue;
}

const Metric* find_metric(std::string_view id) {
  const auto* found =
      std::find_if(catalogue.begin(), catalogue.end(), [&](const Metric& m) { return m.id == id; });
  return found == catalogue.end() ? nullptr : found;
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
  }
  return "";
}

}  // namespace mprof
