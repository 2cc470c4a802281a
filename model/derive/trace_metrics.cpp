// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "model/derive/subjects.hpp"
#include "model/kernel_name.hpp"
#include "model/statistics/median.hpp"
#include "model/trace/interval_set.hpp"
#include "model/trace/launches.hpp"

namespace mprof {
namespace {

using namespace trace;

/// So many kernels of an op get rows of their own, those that took the longest: a record stays readable.
constexpr std::size_t kernels_with_rows = 8;

double seconds(std::int64_t nanoseconds) {
  return 1e-9 * static_cast<double>(nanoseconds);
}

Measurement row(const Name& metric, const Name& op, double value) {
  return {metric, op, "", Source::measured, {value}, ""};
}

Measurement absent(const Name& metric, const Name& op, std::string reason) {
  return {metric, op, "", Source::measured, {}, std::move(reason)};
}

/// The rows of a case.
struct CaseRows {
  CaseRows(const Trace& of, trace::CaseIndex at)
      : trace(of),
        index(at),
        info(of.cases.at(index)),
        kernels(of_case(of.kernels, index)),
        graphs(of_case(of.graphs, index)),
        transfers(of_case(of.transfers, index)),
        calls(of_case(of.calls, index)),
        ranges(of_case(of.ranges, index)),
        synchronizations(of_case(of.synchronizations, index)),
        overheads(of_case(of.overheads, index)),
        allocations(of_case(of.allocations, index)),
        lacks_kernels(unseen_launches(of, at) > 0) {}

  const Trace& trace;
  trace::CaseIndex index;
  const CaseInfo& info;
  std::span<const Kernel> kernels;
  std::span<const GraphExecution> graphs;  ///< whose kernels are not among them
  std::span<const Transfer> transfers;
  std::span<const Call> calls;
  std::span<const Range> ranges;
  std::span<const Synchronization> synchronizations;
  std::span<const Overhead> overheads;
  std::span<const Allocation> allocations;
  bool lacks_kernels;  ///< although some were launched
};

/// The moments of all rows that `keep` keeps.
template <class Row, class Keep>
IntervalSet when(std::span<const Row> rows, const Keep& keep) {
  std::vector<trace::Interval> times;
  for (const Row& r : rows) {
    if (keep(r)) times.push_back(r.time);
  }
  return IntervalSet(std::move(times));
}

constexpr auto any_row = [](const auto&) { return true; };

/// Whether a call is of a kind, by its name.
auto is_of(const Trace& trace, CallKind kind) {
  return [&trace, kind](const Call& call) { return call_kind(trace.names[call.name]) == kind; };
}

/// What the GPU and the host did at each moment of a traced execution, by whatever part of it.
struct Activity {
  explicit Activity(const CaseRows& rows)
      : kernels(when(rows.kernels, any_row) | when(rows.graphs, any_row)),
        transfers(when(rows.transfers, any_row)),
        tracing(when(rows.overheads, any_row)),
        waiting(when(rows.synchronizations, any_row) | when(rows.calls, is_of(rows.trace, CallKind::wait))),
        allocating(when(rows.calls, is_of(rows.trace, CallKind::allocation))),
        calling(when(rows.calls, any_row)) {}

  IntervalSet kernels;
  IntervalSet transfers;
  IntervalSet tracing;
  IntervalSet waiting;
  IntervalSet allocating;
  IntervalSet calling;
};

enum class Way { in, out, other };

Way way_of(TransferKind kind) {
  return trace::is_into_device(kind) ? Way::in : trace::is_out_of_device(kind) ? Way::out : Way::other;
}

/// Those of an op that get rows of their own, by their first starts.
std::vector<OpKernel> longest_kernels(const Trace& trace, trace::CaseIndex index, std::string_view op) {
  std::vector<OpKernel> kernels = kernels_of_op(trace, index, op);
  std::vector<std::size_t> longest(kernels.size());
  std::iota(longest.begin(), longest.end(), std::size_t{0});
  std::ranges::stable_sort(longest, {}, [&](std::size_t i) { return -kernels[i].time; });
  longest.resize(std::min(longest.size(), kernels_with_rows));
  std::ranges::sort(longest);
  std::vector<OpKernel> chosen;
  for (const std::size_t i : longest) chosen.push_back(std::move(kernels[i]));
  return chosen;
}

/// The rows of one op.
class OpMetrics {
 public:
  OpMetrics(const CaseRows& rows, const Activity& activity, std::string op)
      : case_(rows), activity_(activity), op_(std::move(op)) {}

  std::vector<Measurement> rows() {
    add_kernels();
    add_copies();
    add_calls();
    add_stages();
    return std::move(rows_);
  }

 private:
  [[nodiscard]] bool is_here(PlaceIndex place) const { return case_.trace.places[place].op == op_; }
  [[nodiscard]] auto here() const {
    return [this](const auto& r) { return is_here(r.place); };
  }

  void add(const Name& metric, double value) { rows_.push_back(row(metric, op_, value)); }
  void add_absent(const Name& metric, std::string reason) {
    rows_.push_back(absent(metric, op_, std::move(reason)));
  }

  void add_kernels() {
    std::size_t kernels = 0;
    std::set<std::int64_t> launches;
    for (const Kernel& kernel : case_.kernels) {
      if (!is_here(kernel.place)) continue;
      ++kernels;
      launches.insert(kernel.correlation);
    }
    for (const GraphExecution& graph : case_.graphs) {
      if (is_here(graph.place)) launches.insert(graph.correlation);
    }
    const IntervalSet working = when(case_.kernels, here()) | when(case_.graphs, here());
    if (working.empty()) {
      add_absent("gpu_time", why_no_kernel());
    } else {
      add("gpu_time", seconds(working.length()));
    }
    if (case_.lacks_kernels) {
      for (const char* metric : {"kernel_count", "launch_count", "concurrent_streams"})
        add_absent(metric, why_no_kernel());
      return;
    }
    add("kernel_count", static_cast<double>(kernels));
    add("launch_count", static_cast<double>(launches.size()));
    add_each_kernel();
    add_concurrency();
  }

  [[nodiscard]] std::string why_no_kernel() const {
    const Counts& c = case_.info.counts;
    const std::map<std::string, Launches> launches = launches_by_op(case_.trace, case_.index);
    const auto found = launches.find(op_);
    const Launches launched = found == launches.end() ? Launches{} : found->second;
    if (case_.lacks_kernels) {
      return fmt::format(
          "the program launched kernels ({} calls in this op), and the trace has none: the profiler did not "
          "see "
          "the GPU's work",
          launched.without_work);
    }
    if (launched.captured > 0 && launched.without_work == 0) {
      return fmt::format(
          "its {} launches were captured in a graph: the kernels run where the graph is launched",
          launched.captured);
    }
    if (c.dropped + c.zero_time + c.reversed + c.unattributed == 0) return "the op launched no kernel";
    return fmt::format(
        "the trace has no kernel of this op; it lacks {} dropped records, {} without a time and {} with a "
        "reversed one, and {} belong to no op",
        c.dropped, c.zero_time, c.reversed, c.unattributed);
  }

  /// Rows for each distinct kernel, under the name that the counters pass gives it as well. Its launch
  /// configurations are in trace.sqlite.
  void add_each_kernel() {
    for (const OpKernel& kernel : longest_kernels(case_.trace, case_.index, op_)) {
      add("kernel_time", seconds(kernel.time));
      rows_.back().kernel = kernel.name;
      add("kernel_instances", static_cast<double>(kernel.launches.size()));
      rows_.back().kernel = kernel.name;
    }
  }

  /// The most streams that had work at the same moment.
  void add_concurrency() {
    struct Edge {
      std::int64_t time;
      int change;  // -1 sorts before +1: work that begins where other work ends is not beside it
      Queue queue;
    };
    std::vector<Edge> edges;
    const auto collect = [&](const auto& all_rows) {
      for (const auto& r : all_rows) {
        if (!is_here(r.place)) continue;
        edges.push_back({r.time.start, +1, r.queue});
        edges.push_back({r.time.end, -1, r.queue});
      }
    };
    collect(case_.kernels);
    collect(case_.graphs);
    collect(case_.transfers);
    std::ranges::sort(edges, {}, [](const Edge& e) { return std::pair(e.time, e.change); });
    std::map<Queue, int> working;
    std::size_t most = 0;
    for (const Edge& edge : edges) {
      if ((working[edge.queue] += edge.change) == 0) working.erase(edge.queue);
      most = std::max(most, working.size());
    }
    add("concurrent_streams", static_cast<double>(most));
  }

  void add_copies() {
    constexpr std::array<std::pair<Way, const char*>, 3> ways{
        std::pair{Way::in, "copy_in"}, {Way::out, "copy_out"}, {Way::other, "copy_device"}};
    const auto copies = [&](const Transfer& t) { return is_here(t.place) && !t.is_set(); };
    for (const auto& [way, name] : ways) {
      add_transfers(name, [&, way = way](const Transfer& t) { return copies(t) && way_of(t.kind) == way; });
    }
    add("forward_copy_time", seconds(when(case_.transfers, [&](const Transfer& t) {
                                       return copies(t) && way_of(t.kind) != Way::other &&
                                              case_.trace.places[t.place].part == part::op;
                                     }).length()));
    add_transfers("memset", [&](const Transfer& t) { return is_here(t.place) && t.is_set(); });

    const IntervalSet copying = when(case_.transfers, copies);
    if (copying.empty()) {
      add_absent("copy_overlap", "the op copies nothing");
    } else {
      add("copy_overlap", static_cast<double>((copying & activity_.kernels).length()) /
                              static_cast<double>(copying.length()));
    }
  }

  template <class Keep>
  void add_transfers(std::string_view name, const Keep& keep) {
    double bytes = 0;
    for (const Transfer& t : case_.transfers) bytes += keep(t) ? static_cast<double>(t.bytes) : 0;
    add(fmt::format("{}_time", name), seconds(when(case_.transfers, keep).length()));
    add(fmt::format("{}_bytes", name), bytes);
  }

  void add_calls() {
    std::set<std::int64_t> outermost;  // a runtime call and the driver calls in it are one
    for (const Call& call : case_.calls) {
      if (is_here(call.place)) outermost.insert(call.correlation);
    }
    add("api_call_count", static_cast<double>(outermost.size()));
    add("api_time", seconds(when(case_.calls, here()).length()));
    const auto waits = is_of(case_.trace, CallKind::wait);
    const auto waits_here = [&](const Call& call) { return is_here(call.place) && waits(call); };
    add("synchronization_time",
        seconds((when(case_.synchronizations, here()) | when(case_.calls, waits_here)).length()));
  }

  /// What the GPU did while the op's stages ran: each moment counts once, so the rows add up to the traced
  /// group time.
  void add_stages() {
    const IntervalSet stages = when(case_.ranges, [&](const Range& range) {
      const std::string& part = case_.trace.places[range.place].part;
      return range.id != 0 && is_here(range.place) && part != part::between && part != part::pause;
    });
    if (stages.empty()) {
      for (const char* metric :
           {"traced_group_time", "gpu_kernel_time", "gpu_copy_only_time", "gpu_idle_tracing_time",
            "gpu_idle_synchronization_time", "gpu_idle_allocation_time", "gpu_idle_api_time",
            "gpu_idle_host_time", "gpu_kernel_alone_time"}) {
        add_absent(metric, "the op did not run in the traced execution");
      }
      return;
    }
    add("traced_group_time", seconds(stages.length()));
    IntervalSet rest = stages;
    const auto take = [&](const char* metric, const IntervalSet& cause) {
      add(metric, seconds((rest & cause).length()));
      rest = rest - cause;
    };
    if (case_.lacks_kernels) {
      for (const char* metric :
           {"gpu_kernel_time", "gpu_copy_only_time", "gpu_idle_tracing_time", "gpu_idle_synchronization_time",
            "gpu_idle_allocation_time", "gpu_idle_api_time", "gpu_idle_host_time", "gpu_kernel_alone_time"})
        add_absent(metric, why_no_kernel());
      return;
    }
    take("gpu_kernel_time", activity_.kernels);
    take("gpu_copy_only_time", activity_.transfers);
    take("gpu_idle_tracing_time", activity_.tracing);
    take("gpu_idle_synchronization_time", activity_.waiting);
    take("gpu_idle_allocation_time", activity_.allocating);
    take("gpu_idle_api_time", activity_.calling);
    add("gpu_idle_host_time", seconds(rest.length()));
    add("gpu_kernel_alone_time",
        seconds(((stages & (when(case_.kernels, here()) | when(case_.graphs, here()))) - activity_.transfers)
                    .length()));
  }

  const CaseRows& case_;
  const Activity& activity_;
  std::string op_;
  std::vector<Measurement> rows_;
};

/// Memory of the GPU that an execution was given and had not given back, at its most: in all, and while each
/// op was given some. What the runner allocates between two stages is not the variant's.
class MemoryUse {
 public:
  explicit MemoryUse(const CaseRows& rows) : is_known_(!rows.allocations.empty()) {
    std::unordered_map<std::uint64_t, std::uint64_t> held;
    std::uint64_t sum = 0;
    for (const Allocation& a : rows.allocations) {
      const Place& place = rows.trace.places[a.place];
      if (!a.is_on_gpu() || place.part == part::pause) continue;
      if (a.is_release) {
        const auto given = held.find(a.address);
        if (given == held.end()) continue;  // it was there before
        sum -= given->second;
        held.erase(given);
      } else {
        held[a.address] = a.bytes;
        sum += a.bytes;
        most_ = std::max(most_, sum);
        std::uint64_t& of_op = most_of_op_[place.op];
        of_op = std::max(of_op, sum);
      }
    }
  }

  [[nodiscard]] Measurement of(const std::string& op) const {
    if (!is_known_)
      return absent("gpu_memory", op, "the trace has no allocation: none was made, or it is an older one");
    const auto found = most_of_op_.find(op);
    const std::uint64_t of_op = found == most_of_op_.end() ? 0 : found->second;
    return row("gpu_memory", op, static_cast<double>(op.empty() ? most_ : of_op));
  }

 private:
  bool is_known_;
  std::uint64_t most_ = 0;
  std::map<std::string, std::uint64_t, std::less<>> most_of_op_;
};

}  // namespace

std::vector<OpKernel> kernels_of_op(const Trace& trace, trace::CaseIndex index, std::string_view op) {
  std::vector<const Kernel*> rows;
  for (const Kernel& kernel : of_case(trace.kernels, index)) {
    if (trace.places[kernel.place].op == op) rows.push_back(&kernel);
  }
  std::ranges::stable_sort(rows, {}, [](const Kernel* kernel) { return kernel->time.start; });
  std::vector<OpKernel> kernels;
  std::vector<KernelName> names;
  std::unordered_map<NameIndex, std::size_t> known;
  for (const Kernel* kernel : rows) {
    const NameIndex symbol = kernel->mangled != 0 ? kernel->mangled : kernel->name;
    const auto [entry, is_new] = known.try_emplace(symbol, kernels.size());
    if (is_new) {
      kernels.emplace_back();
      names.push_back(kernel->mangled != 0 ? kernel_name(trace.names[symbol])
                                           : kernel_name_of_demangled(trace.names[symbol]));
    }
    OpKernel& one = kernels[entry->second];
    one.time += kernel->time.length();
    one.launches.push_back(kernel);
  }
  const std::vector<std::string> distinct = distinct_names(names);
  for (std::size_t i = 0; i < kernels.size(); ++i) kernels[i].name = distinct[i];
  return kernels;
}

std::vector<Measurement> launch_times(const Trace& trace, trace::CaseIndex index,
                                      std::span<const OpInfo> ops) {
  constexpr std::size_t most = 1000;
  std::vector<Measurement> rows;
  for (const OpInfo& op : ops) {
    for (const OpKernel& kernel : longest_kernels(trace, index, op.name)) {
      Measurement& of_kernel = rows.emplace_back(Measurement{.metric = "launch_time", .op = op.name});
      of_kernel.kernel = kernel.name;
      const std::size_t launches = kernel.launches.size(), kept = std::min(launches, most);
      for (std::size_t i = 0; i < kept; ++i)
        of_kernel.samples.push_back(seconds(kernel.launches[i * launches / kept]->time.length()));
    }
  }
  return rows;
}

std::vector<Measurement> trace_metrics(const Trace& trace, trace::CaseIndex index,
                                       std::span<const OpInfo> ops) {
  const CaseRows of_the_case(trace, index);
  const Activity activity(of_the_case);
  std::vector<Measurement> rows;
  const MemoryUse memory(of_the_case);
  for (const OpInfo& op : ops) {
    rows.push_back(memory.of(op.name));
    for (Measurement& r : OpMetrics(of_the_case, activity, op.name).rows()) rows.push_back(std::move(r));
  }
  rows.push_back(memory.of(""));
  const Counts& counts = of_the_case.info.counts;
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

Measurement trace_overhead(const Case& subject, std::span<const Measurement> traced) {
  // A program's is that of its whole time.
  const PassResult* const pass = find_pass(subject, Pass::trace);
  const Measurement* const whole = find_measurement(subject, "total_time");
  if (pass != nullptr && pass->outcome && whole != nullptr && !whole->samples.empty())
    return row("trace_overhead", "", pass->seconds / median(whole->samples));
  double with = 0;
  double without = 0;
  for (const Measurement& t : traced) {
    if (t.metric != "traced_group_time" || t.samples.empty()) continue;
    const Measurement* untraced = find_measurement(subject, "group_time", t.op);
    if (untraced == nullptr || untraced->samples.empty()) {
      return absent("trace_overhead", "", "the timing pass has no group time of " + t.op);
    }
    with += t.samples.front();
    without += median(untraced->samples);
  }
  if (without <= 0) return absent("trace_overhead", "", "no op ran in the traced execution");
  return row("trace_overhead", "", with / without);
}

}  // namespace mprof
