// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <span>
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
        kernels(of_case(of.kernels.rows(), index)),
        graphs(of_case(of.graphs, index)),
        transfers(of_case(of.transfers, index)),
        calls(of_case(of.calls, index)),
        ranges(of_case(of.ranges, index)),
        synchronizations(of_case(of.synchronizations, index)),
        overheads(of_case(of.overheads, index)),
        allocations(of_case(of.allocations, index)),
        lacks_kernels(unseen_launches(of, at) > 0),
        call_kinds(of) {}

  const Trace& trace;
  trace::CaseIndex index;
  const CaseInfo& info;
  std::span<const KernelRow> kernels;
  std::span<const GraphExecution> graphs;  ///< whose kernels are not among them
  std::span<const Transfer> transfers;
  std::span<const Call> calls;
  std::span<const Range> ranges;
  std::span<const Synchronization> synchronizations;
  std::span<const Overhead> overheads;
  std::span<const Allocation> allocations;
  bool lacks_kernels;  ///< although some were launched
  mutable CallKinds call_kinds;
};

/// The moments of all rows that `keep` keeps.
template <class Row, class Keep>
IntervalSet when(std::span<const Row> rows, const Keep& keep) {
  std::vector<trace::Interval> times;
  times.reserve(rows.size());
  for (const Row& r : rows) {
    if (keep(r)) times.push_back(r.time);
  }
  return IntervalSet(std::move(times));
}

constexpr auto any_row = [](const auto&) { return true; };

/// Whether a call is of a kind, by its name.
auto is_of(const CaseRows& rows, CallKind kind) {
  return [&rows, kind](const Call& call) { return rows.call_kinds.of(call) == kind; };
}

/// How many different ids there are.
std::size_t distinct(std::vector<std::int64_t> ids) {
  if (!std::ranges::is_sorted(ids)) std::ranges::sort(ids);
  return static_cast<std::size_t>(std::unique(ids.begin(), ids.end()) - ids.begin());
}

/// What the GPU and the host did at each moment of a traced execution, by whatever part of it.
struct Activity {
  explicit Activity(const CaseRows& rows)
      : kernels(when(rows.kernels, any_row) | when(rows.graphs, any_row)),
        transfers(when(rows.transfers, any_row)),
        tracing(when(rows.overheads, any_row)),
        waiting(when(rows.synchronizations, any_row) | when(rows.calls, is_of(rows, CallKind::wait))),
        allocating(when(rows.calls, is_of(rows, CallKind::allocation))),
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

/// The `most` kernels of an op that took the longest, by their first starts.
std::vector<OpKernel> longest_kernels(const Trace& trace, trace::CaseIndex index, std::string_view op,
                                      std::size_t most) {
  std::vector<OpKernel> kernels = kernels_of_op(trace, index, op);
  std::vector<std::size_t> longest(kernels.size());
  std::iota(longest.begin(), longest.end(), std::size_t{0});
  std::ranges::stable_sort(longest, {}, [&](std::size_t i) { return -kernels[i].time; });
  longest.resize(std::min(longest.size(), most));
  std::ranges::sort(longest);
  std::vector<OpKernel> chosen;
  for (const std::size_t i : longest) chosen.push_back(std::move(kernels[i]));
  return chosen;
}

/// When streams began and ended their pieces of work.
class QueueEdges {
 public:
  void add(const Queue& queue, const trace::Interval& time) {
    if (queues_.empty() || queue != last_.first)
      last_ = {queue, queues_.try_emplace(queue, static_cast<std::uint32_t>(queues_.size())).first->second};
    starts_.emplace_back(time.start, last_.second);
    ends_.emplace_back(time.end, last_.second);
  }

  /// How many of them had work at the same moment, at most. Work that begins where other work ends is not
  /// beside it.
  [[nodiscard]] std::size_t most_at_once() && {
    for (std::vector<Edge>* const edges : {&starts_, &ends_}) {
      if (!std::ranges::is_sorted(*edges, {}, &Edge::first)) std::ranges::sort(*edges, {}, &Edge::first);
    }
    std::vector<std::int64_t> pieces(queues_.size());
    std::size_t working = 0, most = 0;
    const auto change = [&](std::uint32_t queue, int by) {
      std::int64_t& of_queue = pieces[queue];
      if (of_queue == 0) ++working;
      of_queue += by;
      if (of_queue == 0) --working;
      most = std::max(most, working);
    };
    for (auto start = starts_.begin(), end = ends_.begin(); end != ends_.end();) {
      if (start == starts_.end() || end->first <= start->first) {
        change((end++)->second, -1);
      } else {
        change((start++)->second, +1);
      }
    }
    return most;
  }

 private:
  using Edge = std::pair<std::int64_t, std::uint32_t>;  ///< a time, and the number of a queue
  std::map<Queue, std::uint32_t> queues_;
  std::pair<Queue, std::uint32_t> last_{};
  std::vector<Edge> starts_, ends_;
};

/// The rows of one op.
class OpMetrics {
 public:
  OpMetrics(const CaseRows& rows, const Activity& activity, std::string op, std::size_t most_kernels)
      : case_(rows), activity_(activity), op_(std::move(op)), most_kernels_(most_kernels) {
    for (const Place& place : case_.trace.places) is_here_.push_back(place.op == op_);
  }

  std::vector<Measurement> rows() {
    add_kernels();
    add_copies();
    add_calls();
    add_stages();
    return std::move(rows_);
  }

 private:
  [[nodiscard]] bool is_here(PlaceIndex place) const { return is_here_[place]; }
  [[nodiscard]] auto here() const {
    return [this](const auto& r) { return is_here(r.place); };
  }

  void add(const Name& metric, double value) { rows_.push_back(row(metric, op_, value)); }
  void add_absent(const Name& metric, std::string reason) {
    rows_.push_back(absent(metric, op_, std::move(reason)));
  }

  void add_kernels() {
    std::size_t kernels = 0;
    std::vector<std::int64_t> launches;
    for (const KernelRow& kernel : case_.kernels) {
      if (!is_here(kernel.place)) continue;
      ++kernels;
      launches.push_back(case_.trace.kernels.correlation(kernel));
    }
    for (const GraphExecution& graph : case_.graphs) {
      if (is_here(graph.place)) launches.push_back(graph.correlation);
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
    add("launch_count", static_cast<double>(distinct(std::move(launches))));
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
          "see the GPU's work",
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
    for (const OpKernel& kernel : longest_kernels(case_.trace, case_.index, op_, most_kernels_)) {
      add("kernel_time", seconds(kernel.time));
      rows_.back().kernel = kernel.name;
      add("kernel_instances", static_cast<double>(kernel.launches.size()));
      rows_.back().kernel = kernel.name;
    }
  }

  /// The most streams that had work at the same moment.
  void add_concurrency() {
    QueueEdges edges;
    for (const KernelRow& row : case_.kernels) {
      if (is_here(row.place)) edges.add(case_.trace.kernels.shared(row).queue, row.time);
    }
    const auto collect = [&](const auto& all_rows) {
      for (const auto& r : all_rows) {
        if (is_here(r.place)) edges.add(r.queue, r.time);
      }
    };
    collect(case_.graphs);
    collect(case_.transfers);
    add("concurrent_streams", static_cast<double>(std::move(edges).most_at_once()));
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
    std::vector<std::int64_t> outermost;  // a runtime call and the driver calls in it are one
    for (const Call& call : case_.calls) {
      if (is_here(call.place)) outermost.push_back(call.correlation);
    }
    add("api_call_count", static_cast<double>(distinct(std::move(outermost))));
    add("api_time", seconds(when(case_.calls, here()).length()));
    const auto waits = is_of(case_, CallKind::wait);
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
      const std::int64_t before = rest.length();
      rest = rest - cause;
      add(metric, seconds(before - rest.length()));
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
  std::size_t most_kernels_;
  std::vector<bool> is_here_;  ///< by place
  std::vector<Measurement> rows_;
};

/// Memory of the GPU that an execution was given and had not given back, at its most: in all, and while each
/// op was given some. What the runner allocates between two stages is not the variant's.
class MemoryUse {
 public:
  explicit MemoryUse(const CaseRows& rows) : is_known_(!rows.allocations.empty()) {
    std::map<std::pair<std::int64_t, std::uint64_t>, std::uint64_t> held;  // by process and address
    std::uint64_t sum = 0;
    for (const Allocation& a : rows.allocations) {
      const Place& place = rows.trace.places[a.place];
      if (!a.is_on_gpu() || place.part == part::pause) continue;
      if (a.is_release) {
        const auto given = held.find({a.process, a.address});
        if (given == held.end()) continue;  // it was there before
        sum -= given->second;
        held.erase(given);
      } else {
        std::uint64_t& here = held[{a.process, a.address}];
        sum += a.bytes - here;  // what was there before was freed unseen
        here = a.bytes;
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
  const std::vector<KernelRow>& all = trace.kernels.rows();
  std::vector<std::uint32_t> rows;
  std::vector<bool> is_here;
  for (const Place& place : trace.places) is_here.push_back(place.op == op);
  const std::span<const KernelRow> of_the_case = of_case(all, index);
  const auto first = static_cast<std::uint32_t>(of_the_case.data() - all.data());
  for (std::uint32_t i = 0; i < of_the_case.size(); ++i) {
    if (is_here[of_the_case[i].place]) rows.push_back(first + i);
  }
  const auto start = [&](std::uint32_t kernel) { return all[kernel].time.start; };
  if (!std::ranges::is_sorted(rows, {}, start)) std::ranges::stable_sort(rows, {}, start);
  std::vector<OpKernel> kernels;
  std::vector<KernelName> names;
  std::unordered_map<NameIndex, std::size_t> known;
  for (const std::uint32_t at : rows) {
    const Kernel& kernel = trace.kernels.shared(all[at]);
    const NameIndex symbol = kernel.mangled != 0 ? kernel.mangled : kernel.name;
    const auto [entry, is_new] = known.try_emplace(symbol, kernels.size());
    if (is_new) {
      kernels.emplace_back();
      names.push_back(kernel.mangled != 0 ? kernel_name(trace.names[symbol])
                                          : kernel_name_of_demangled(trace.names[symbol]));
    }
    OpKernel& one = kernels[entry->second];
    one.time += all[at].time.length();
    one.launches.push_back(at);
  }
  const std::vector<std::string> distinct = distinct_names(names);
  for (std::size_t i = 0; i < kernels.size(); ++i) kernels[i].name = distinct[i];
  return kernels;
}

std::vector<Measurement> launch_times(const Trace& trace, trace::CaseIndex index,
                                      std::span<const OpInfo> ops) {
  constexpr std::size_t most_of_kernel = 1000, least_of_kernel = 50, most_of_op = 200'000;
  std::vector<Measurement> rows;
  for (const OpInfo& op : ops) {
    const std::vector<OpKernel> kernels = longest_kernels(trace, index, op.name, kernels_of_program);
    const std::size_t most =
        std::clamp(most_of_op / std::max<std::size_t>(kernels.size(), 1), least_of_kernel, most_of_kernel);
    for (const OpKernel& kernel : kernels) {
      Measurement& of_kernel = rows.emplace_back(Measurement{.metric = "launch_time", .op = op.name});
      of_kernel.kernel = kernel.name;
      const std::size_t launches = kernel.launches.size(), kept = std::min(launches, most);
      for (std::size_t i = 0; i < kept; ++i)
        of_kernel.samples.push_back(
            seconds(trace.kernels.rows()[kernel.launches[i * launches / kept]].time.length()));
    }
  }
  return rows;
}

std::vector<Measurement> trace_metrics(const Trace& trace, trace::CaseIndex index,
                                       std::span<const OpInfo> ops, std::size_t most_kernels) {
  const CaseRows of_the_case(trace, index);
  const Activity activity(of_the_case);
  std::vector<Measurement> rows;
  const MemoryUse memory(of_the_case);
  for (const OpInfo& op : ops) {
    rows.push_back(memory.of(op.name));
    for (Measurement& r : OpMetrics(of_the_case, activity, op.name, most_kernels).rows())
      rows.push_back(std::move(r));
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
