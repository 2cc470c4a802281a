#include "collectors/trace_metrics.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "model/kernel_name.hpp"
#include "model/statistics.hpp"
#include "model/trace/interval_set.hpp"

namespace mprof::trace {
namespace {

/// So many kernels of an op get rows of their own, the first ones: a record stays readable.
constexpr std::size_t kernels_with_rows = 8;

double seconds(std::int64_t nanoseconds) {
  return 1e-9 * static_cast<double>(nanoseconds);
}

Measurement row(std::string metric, std::string op, double value) {
  return {std::move(metric), std::move(op), "", Source::measured, {value}, ""};
}

Measurement absent(std::string metric, std::string op, std::string reason) {
  return {std::move(metric), std::move(op), "", Source::measured, {}, std::move(reason)};
}

/// The moments of all rows of `rows` that `keep`s.
template <class Row, class Keep>
IntervalSet when(const std::vector<Row>& rows, const Keep& keep) {
  std::vector<Interval> times;
  for (const Row& r : rows) {
    if (!keep(r)) continue;
    if constexpr (requires { r.work; }) {
      times.push_back(r.work.time);
    } else {
      times.push_back(r.time);
    }
  }
  return IntervalSet(std::move(times));
}

constexpr auto all = [](const auto&) { return true; };

bool has_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return text.find(word) != text.npos; });
}
bool waits(const ApiCall& call) {
  return has_any(call.name, {"Synchronize"});
}
bool allocates(const ApiCall& call) {
  return has_any(call.name, {"Malloc", "Free", "MemAlloc", "HostAlloc", "HostRegister", "HostUnregister"});
}

/// What the GPU and the host did at each moment of a traced execution, by whatever part of it.
struct Activity {
  explicit Activity(const Trace& trace)
      : kernels(when(trace.kernels, all)),
        copies(when(trace.copies, all) | when(trace.sets, all)),
        tracing(when(trace.overheads, all)),
        waiting(when(trace.synchronizations, all) | when(trace.calls, waits)),
        allocating(when(trace.calls, allocates)),
        calling(when(trace.calls, all)) {}

  IntervalSet kernels;
  IntervalSet copies;
  IntervalSet tracing;
  IntervalSet waiting;
  IntervalSet allocating;
  IntervalSet calling;
};

enum class Way { in, out, other };

Way way_of(const Copy& copy) {
  switch (copy.kind) {
    case CopyKind::host_to_device:
    case CopyKind::host_to_array:
      return Way::in;
    case CopyKind::device_to_host:
    case CopyKind::array_to_host:
      return Way::out;
    default:
      return Way::other;
  }
}

/// The rows of one op.
class OpMetrics {
 public:
  OpMetrics(const Trace& trace, const Activity& activity, std::string op)
      : trace_(trace), activity_(activity), op_(std::move(op)) {}

  std::vector<Measurement> rows() {
    add_kernels();
    add_copies();
    add_calls();
    add_stages();
    return std::move(rows_);
  }

 private:
  [[nodiscard]] bool is_here(PlaceIndex place) const { return trace_.places[place].op == op_; }
  [[nodiscard]] auto here() const {
    return [this](const auto& r) {
      if constexpr (requires { r.work; }) {
        return is_here(r.work.place);
      } else {
        return is_here(r.place);
      }
    };
  }

  void add(std::string metric, double value) { rows_.push_back(row(std::move(metric), op_, value)); }
  void add_absent(std::string metric, std::string reason) {
    rows_.push_back(absent(std::move(metric), op_, std::move(reason)));
  }

  void add_kernels() {
    std::vector<const Kernel*> kernels;
    std::set<std::uint32_t> launches;
    for (const Kernel& kernel : trace_.kernels) {
      if (!is_here(kernel.work.place)) continue;
      kernels.push_back(&kernel);
      launches.insert(kernel.work.correlation);
    }
    if (kernels.empty()) {
      add_absent("gpu_time", why_no_kernel());
    } else {
      add("gpu_time", seconds(when(trace_.kernels, here()).length()));
    }
    add("kernel_count", static_cast<double>(kernels.size()));
    add("launch_count", static_cast<double>(launches.size()));
    add_each_kernel(std::move(kernels));
    add_concurrency();
  }

  [[nodiscard]] std::string why_no_kernel() const {
    const Counts& c = trace_.counts;
    if (c.dropped + c.zero_time + c.reversed + c.unattributed == 0) return "the op launched no kernel";
    return fmt::format(
        "the trace has no kernel of this op; it lacks {} dropped records, {} without a time and {} with a "
        "reversed one, and {} belong to no op",
        c.dropped, c.zero_time, c.reversed, c.unattributed);
  }

  /// Rows for each distinct kernel, under the name that the counters pass gives it as well. Its launch
  /// configurations are in trace.sqlite.
  void add_each_kernel(std::vector<const Kernel*> kernels) {
    std::ranges::stable_sort(kernels, {}, [](const Kernel* kernel) { return kernel->work.time.start; });
    struct Sum {
      std::uint32_t symbol;
      std::int64_t time = 0;
      int instances = 0;
    };
    std::vector<Sum> sums;  // in the order of their first starts
    std::vector<std::string> symbols;
    for (const Kernel* kernel : kernels) {
      auto sum = std::ranges::find(sums, kernel->symbol, &Sum::symbol);
      if (sum == sums.end()) {
        symbols.push_back(trace_.symbols.at(kernel->symbol).mangled);
        sum = sums.insert(sum, {kernel->symbol});
      }
      sum->time += kernel->work.time.length();
      ++sum->instances;
    }
    const std::vector<std::string> names = distinct_kernel_names(symbols);
    for (std::size_t i = 0; i < std::min(sums.size(), kernels_with_rows); ++i) {
      add("kernel_time", seconds(sums[i].time));
      rows_.back().kernel = names[i];
      add("kernel_instances", sums[i].instances);
      rows_.back().kernel = names[i];
    }
  }

  /// The most streams that had work at the same moment.
  void add_concurrency() {
    using Stream = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
    struct Edge {
      std::int64_t time;
      int change;  // -1 sorts before +1: work that begins where other work ends is not beside it
      Stream stream;
    };
    std::vector<Edge> edges;
    const auto collect = [&](const auto& all_rows) {
      for (const auto& r : all_rows) {
        if (!is_here(r.work.place)) continue;
        const Stream stream{r.work.device, r.work.context, r.work.stream};
        edges.push_back({r.work.time.start, +1, stream});
        edges.push_back({r.work.time.end, -1, stream});
      }
    };
    collect(trace_.kernels);
    collect(trace_.copies);
    collect(trace_.sets);
    std::ranges::sort(edges, {}, [](const Edge& e) { return std::pair(e.time, e.change); });
    std::map<Stream, int> working;
    std::size_t most = 0;
    for (const Edge& edge : edges) {
      if ((working[edge.stream] += edge.change) == 0) working.erase(edge.stream);
      most = std::max(most, working.size());
    }
    add("concurrent_streams", static_cast<double>(most));
  }

  void add_copies() {
    constexpr std::array<std::pair<Way, const char*>, 3> ways{
        std::pair{Way::in, "copy_in"}, {Way::out, "copy_out"}, {Way::other, "copy_device"}};
    for (const auto& [way, name] : ways) {
      const auto of_way = [&, way = way](const Copy& c) { return is_here(c.work.place) && way_of(c) == way; };
      double bytes = 0;
      for (const Copy& c : trace_.copies) bytes += of_way(c) ? static_cast<double>(c.bytes) : 0;
      add(fmt::format("{}_time", name), seconds(when(trace_.copies, of_way).length()));
      add(fmt::format("{}_bytes", name), bytes);
    }
    double set_bytes = 0;
    for (const Set& s : trace_.sets) set_bytes += is_here(s.work.place) ? static_cast<double>(s.bytes) : 0;
    add("memset_time", seconds(when(trace_.sets, here()).length()));
    add("memset_bytes", set_bytes);

    const IntervalSet copying = when(trace_.copies, here());
    if (copying.empty()) {
      add_absent("copy_overlap", "the op copies nothing");
    } else {
      add("copy_overlap", static_cast<double>((copying & activity_.kernels).length()) /
                              static_cast<double>(copying.length()));
    }
  }

  void add_calls() {
    std::set<std::uint32_t> outermost;  // a runtime call and the driver calls in it are one
    for (const ApiCall& call : trace_.calls) {
      if (is_here(call.place)) outermost.insert(call.correlation);
    }
    add("api_call_count", static_cast<double>(outermost.size()));
    add("api_time", seconds(when(trace_.calls, here()).length()));
    const auto waits_here = [&](const ApiCall& call) { return is_here(call.place) && waits(call); };
    add("synchronization_time",
        seconds((when(trace_.synchronizations, here()) | when(trace_.calls, waits_here)).length()));
  }

  /// What the GPU did while the op's stages ran: each moment counts once, so the rows add up to the traced
  /// layer time.
  void add_stages() {
    const IntervalSet stages = when(trace_.ranges, [&](const Range& range) {
      const std::string& part = trace_.places[range.place].part;
      return range.id != 0 && is_here(range.place) && part != part::between && part != part::pause;
    });
    if (stages.empty()) {
      for (const char* metric : {"traced_layer_time", "gpu_kernel_time", "gpu_copy_only_time",
                                 "gpu_idle_tracing_time", "gpu_idle_synchronization_time",
                                 "gpu_idle_allocation_time", "gpu_idle_api_time", "gpu_idle_host_time"}) {
        add_absent(metric, "the op did not run in the traced execution");
      }
      return;
    }
    add("traced_layer_time", seconds(stages.length()));
    IntervalSet rest = stages;
    const auto take = [&](const char* metric, const IntervalSet& cause) {
      add(metric, seconds((rest & cause).length()));
      rest = rest - cause;
    };
    take("gpu_kernel_time", activity_.kernels);
    take("gpu_copy_only_time", activity_.copies);
    take("gpu_idle_tracing_time", activity_.tracing);
    take("gpu_idle_synchronization_time", activity_.waiting);
    take("gpu_idle_allocation_time", activity_.allocating);
    take("gpu_idle_api_time", activity_.calling);
    add("gpu_idle_host_time", seconds(rest.length()));
  }

  const Trace& trace_;
  const Activity& activity_;
  std::string op_;
  std::vector<Measurement> rows_;
};

}  // namespace

std::vector<Measurement> measure(const Trace& trace, const std::vector<OpInfo>& ops) {
  const Activity activity(trace);
  std::vector<Measurement> rows;
  for (const OpInfo& op : ops) {
    for (Measurement& r : OpMetrics(trace, activity, op.name).rows()) rows.push_back(std::move(r));
  }
  const Counts& counts = trace.counts;
  const std::pair<const char*, std::uint64_t> of_case[] = {
      {"dropped_records", counts.dropped},
      {"zero_time_records", counts.zero_time},
      {"reversed_records", counts.reversed},
      {"unattributed_records", counts.unattributed},
      {"attribution_disagreements", counts.disagreements},
  };
  for (const auto& [metric, count] : of_case) rows.push_back(row(metric, "", static_cast<double>(count)));
  return rows;
}

Measurement trace_overhead(const Case& subject, const std::vector<Measurement>& traced) {
  double with = 0;
  double without = 0;
  for (const Measurement& t : traced) {
    if (t.metric != "traced_layer_time" || t.samples.empty()) continue;
    const Measurement* untraced = find_measurement(subject, "layer_time", t.op);
    if (untraced == nullptr || untraced->samples.empty()) {
      return absent("trace_overhead", "", "the timing pass has no layer time of " + t.op);
    }
    with += t.samples.front();
    without += median(untraced->samples);
  }
  if (without <= 0) return absent("trace_overhead", "", "no op ran in the traced execution");
  return row("trace_overhead", "", with / without);
}

}  // namespace mprof::trace
