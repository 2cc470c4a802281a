// SPDX-License-Identifier: MIT
#include "model/trace/program.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "model/trace/gpu_samples.hpp"
#include "model/trace/id_map.hpp"
#include "model/trace/interval_set.hpp"
#include "model/trace/nsys_schema.hpp"
#include "model/trace/op_name.hpp"
#include "model/trace/open_ops.hpp"
#include "system/glob.hpp"

namespace mprof::trace {
namespace {

/// No clock shows more; differences of such times are numbers yet.
constexpr std::int64_t latest = std::numeric_limits<std::int64_t>::max() / 4;

/// Calls visit(rows) for each table whose rows have a correlation id and a process of their own.
template <class Visit>
void for_each_work(Trace& trace, const Visit& visit) {
  visit(trace.kernels.rows());
  visit(trace.graphs);
  visit(trace.transfers);
  visit(trace.synchronizations);
  visit(trace.allocations);
}

/// Calls visit(rows) for each table whose rows have a thread.
template <class Visit>
void for_each_on_host(Trace& trace, const Visit& visit) {
  visit(trace.calls);
  visit(trace.system_calls);
  visit(trace.ranges);
  visit(trace.overheads);
  visit(trace.graph_nodes);
}

// --- Rows that cannot be used ---

enum class Fault { none, zero, reversed };

template <class Row>
Fault fault_of(const Row& row) {
  const Interval& time = row.time;
  const bool known = std::min(time.start, time.end) > -latest && std::max(time.start, time.end) < latest;
  // No file knows work from before the moment at which its times begin.
  constexpr bool is_work = !requires {
    row.thread;
  };
  const bool zero = (time.start == 0 && time.end == 0) || (is_work && known && time.start < 0);
  if (zero) return Fault::zero;
  return !known || time.end < time.start ? Fault::reversed : Fault::none;
}

class Sieve {
 public:
  template <class Row>
  void operator()(std::vector<Row>& rows) {
    std::erase_if(rows, [&](const Row& row) {
      const Fault fault = fault_of(row);
      counts_.zero_time += fault == Fault::zero ? 1 : 0;
      counts_.reversed += fault == Fault::reversed ? 1 : 0;
      return fault != Fault::none;
    });
  }
  [[nodiscard]] const Counts& counts() const { return counts_; }

 private:
  Counts counts_;
};

/// Work of a stream runs one after the other. What is still running when two later pieces of its stream have
/// ended was given a time that it cannot have.
class OverlapSieve {
 public:
  explicit OverlapSieve(const Trace& trace)
      : kernels_(trace.kernels.size()), transfers_(trace.transfers.size()) {
    const std::vector<KernelRow>& kernels = trace.kernels.rows();
    const std::vector<Transfer>& transfers = trace.transfers;
    const ByStart kernel_at(kernels), transfer_at(transfers);
    for (std::size_t kernel = 0, transfer = 0; kernel < kernels.size() || transfer < transfers.size();) {
      const bool is_kernel = transfer == transfers.size() ||
                             (kernel < kernels.size() && kernels[kernel_at(kernel)].time.start <=
                                                             transfers[transfer_at(transfer)].time.start);
      if (is_kernel) {
        look_at(trace.kernels[kernel_at(kernel)], kernels_, kernel_at(kernel));
        ++kernel;
      } else {
        look_at(transfers[transfer_at(transfer)], transfers_, transfer_at(transfer));
        ++transfer;
      }
    }
  }

  /// Removes what cannot be, and says how much that was.
  std::uint64_t remove_from(Trace& trace) const {
    return removed(trace.kernels.rows(), kernels_) + removed(trace.transfers, transfers_);
  }

 private:
  /// The places of rows by their starts.
  class ByStart {
   public:
    template <class Row>
    explicit ByStart(const std::vector<Row>& rows) {
      const auto start = [](const Row& row) { return row.time.start; };
      if (std::ranges::is_sorted(rows, {}, start)) return;
      places_.resize(rows.size());
      std::iota(places_.begin(), places_.end(), std::uint32_t{0});
      std::ranges::stable_sort(places_, {}, [&](std::uint32_t place) { return start(rows[place]); });
    }
    std::size_t operator()(std::size_t i) const { return places_.empty() ? i : places_[i]; }

   private:
    std::vector<std::uint32_t> places_;  ///< empty: they stand so
  };

  /// A piece of work that later ones may show to be impossible.
  struct Earlier {
    std::int64_t end = 0;
    std::int64_t correlation = 0;
    int outlasted = 0;
    std::vector<bool>* marks = nullptr;
    std::size_t place = 0;
  };

  template <class Row>
  void look_at(const Row& row, std::vector<bool>& marks, std::size_t place) {
    constexpr std::size_t window = 4;
    constexpr int too_many = 2;
    if (row.graph_node != 0) return;  // branches of a graph run beside each other in one stream
    std::vector<Earlier>& before = streams_[{row.process, row.queue}];
    for (Earlier& one : before) {
      if (one.correlation == row.correlation || row.time.end >= one.end) continue;
      if (++one.outlasted == too_many) one.marks->at(one.place) = true;
    }
    if (before.size() == window) before.erase(before.begin());
    before.push_back({row.time.end, row.correlation, 0, &marks, place});
  }

  template <class Row>
  static std::uint64_t removed(std::vector<Row>& rows, const std::vector<bool>& marks) {
    std::size_t at = 0;
    return std::erase_if(rows, [&](const Row&) { return marks[at++]; });
  }

  std::map<std::pair<std::int64_t, Queue>, std::vector<Earlier>> streams_;
  std::vector<bool> kernels_, transfers_;
};

// --- An order that is no file's ---

template <class Row>
auto order_of(const Trace& trace, const Row& row) {
  std::string_view name;
  std::uint64_t kind = 0, which = 0;
  if constexpr (requires { row.name; }) name = trace.names[row.name];
  if constexpr (requires { row.graph_node; }) which = row.graph_node;
  if constexpr (requires { row.bytes; }) which += row.bytes;
  if constexpr (requires { row.kind; }) kind = static_cast<std::uint64_t>(row.kind);
  if constexpr (requires { row.address; }) which += row.address;
  if constexpr (requires { row.event; }) which += row.event;
  return std::tuple(row.time.start, row.time.end, row.process, row.correlation, kind, which, name);
}

/// Most files have them in order.
template <class Row, class Before>
void sort_unless_sorted(std::vector<Row>& rows, const Before& comes_before) {
  if (!std::ranges::is_sorted(rows, comes_before)) std::ranges::sort(rows, comes_before);
}

template <class Row>
void sort_work(const Trace& trace, std::vector<Row>& rows) {
  sort_unless_sorted(rows,
                     [&](const Row& a, const Row& b) { return order_of(trace, a) < order_of(trace, b); });
}

void sort_work(const Trace& trace, std::vector<KernelRow>& rows) {
  const auto comes_before = [&](const KernelRow& a, const KernelRow& b) {
    if (a.time.start != b.time.start) return a.time.start < b.time.start;
    return order_of(trace, trace.kernels.whole(a)) < order_of(trace, trace.kernels.whole(b));
  };
  sort_unless_sorted(rows, comes_before);
}

template <class Row>
void sort_on_host(const Trace& trace, std::vector<Row>& rows) {
  const auto order = [&](const Row& row) {
    std::string_view name;
    std::uint64_t kind = 0;
    std::int64_t correlation = 0;
    if constexpr (requires { row.name; }) name = trace.names[row.name];
    if constexpr (requires { row.kind; }) kind = row.kind;
    if constexpr (requires { row.correlation; }) correlation = row.correlation;
    if constexpr (requires { row.original; }) correlation = static_cast<std::int64_t>(row.id);
    // The longer first: it holds the others.
    return std::tuple(row.time.start, -row.time.end, row.thread, correlation, kind, name);
  };
  sort_unless_sorted(rows, [&](const Row& a, const Row& b) { return order(a) < order(b); });
}

// --- Correlation ids ---

/// Numbers correlation ids from 1 on, so that each is unique over all processes.
class Correlations {
 public:
  explicit Correlations(Trace& trace) {
    for (Call& call : trace.calls) call.correlation = of(nsys::process_of(call.thread), call.correlation);
    Kernels& kernels = trace.kernels;
    for (KernelRow& row : kernels.rows())
      kernels.set_correlation(row,
                              of(nsys::process_of(kernels.shared(row).process), kernels.correlation(row)));
    const auto renumber = [&](auto& rows) {
      for (auto& row : rows) row.correlation = of(nsys::process_of(row.process), row.correlation);
    };
    renumber(trace.graphs);
    renumber(trace.transfers);
    renumber(trace.synchronizations);
    renumber(trace.allocations);
    for (Overhead& row : trace.overheads) row.correlation = of(nsys::process_of(row.thread), row.correlation);
  }
  /// The largest of them.
  [[nodiscard]] std::uint32_t count() const { return count_; }

 private:
  std::int64_t of(std::int64_t process, std::int64_t id) {
    if (id == 0) return 0;  // nobody's
    std::uint32_t& number = ids_(process, id);
    if (number == 0) number = ++count_;
    return number;
  }

  IdMap ids_;
  std::uint32_t count_ = 0;
};

/// The outermost call of each correlation id of a trace whose ids count from 1 on: a runtime call makes
/// driver calls.
class OutermostCalls {
 public:
  OutermostCalls(const std::vector<Call>& calls, std::uint32_t ids) : calls_(calls), of_ids_(ids + 1, none) {
    for (std::uint32_t i = 0; i < calls.size(); ++i) {
      std::uint32_t& of_id = of_ids_.at(static_cast<std::size_t>(calls[i].correlation));
      if (calls[i].correlation != 0 && (of_id == none || calls[i].time.start < calls[of_id].time.start))
        of_id = i;
    }
  }
  /// nullptr: the trace has none.
  [[nodiscard]] const Call* of(std::int64_t id) const {
    const std::uint32_t index = of_ids_.at(static_cast<std::size_t>(id));
    return index == none ? nullptr : &calls_[index];
  }
  [[nodiscard]] std::int64_t ids() const { return static_cast<std::int64_t>(of_ids_.size()); }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  const std::vector<Call>& calls_;
  std::vector<std::uint32_t> of_ids_;
};

/// Kernels and copies that begin before the call that launched them did, by more than the clocks of host and
/// GPU commonly differ.
std::uint64_t count_early(const Trace& trace, const OutermostCalls& calls) {
  constexpr std::int64_t common = 10'000;  // ns
  std::uint64_t early = 0;
  const auto count = [&](const Interval& time, std::int64_t id) {
    const Call* const call = calls.of(id);
    if (call != nullptr && time.start < call->time.start - common) ++early;
  };
  for (const KernelRow& row : trace.kernels.rows()) count(row.time, trace.kernels.correlation(row));
  for (const Transfer& row : trace.transfers) count(row.time, row.correlation);
  return early;
}

// --- Ops ---

/// Of the chosen ranges of each thread those that lie in none of the others.
std::vector<const Range*> outermost(std::vector<const Range*> ranges) {
  std::ranges::stable_sort(ranges, {}, [](const Range* range) {
    return std::tuple(range->thread, range->time.start, -range->time.end);
  });
  std::vector<const Range*> kept;
  for (const Range* range : ranges) {
    const bool is_inside =
        !kept.empty() && kept.back()->thread == range->thread && range->time.start < kept.back()->time.end;
    if (!is_inside) kept.push_back(range);
  }
  return kept;
}

/// The name of each range as an op: what a report can have a column for.
std::vector<OpTime> named(const Trace& trace, const std::vector<const Range*>& ranges) {
  std::vector<OpTime> times;
  std::set<std::string> names;
  for (const Range* range : ranges) {
    std::string name(trace.text_of(*range));
    if (name.empty()) name = "unnamed range";
    names.insert(name);
    times.push_back({range->time, range->thread, std::move(name)});
  }
  if (names.size() <= most_program_ops) return times;
  std::map<std::string, std::int64_t> lengths;
  for (OpTime& one : times) {
    one.op = without_numbers(one.op);
    lengths[one.op] += one.time.length();
  }
  if (lengths.size() <= most_program_ops) return times;
  std::vector<std::pair<std::int64_t, std::string>> longest;
  for (const auto& [name, length] : lengths) longest.emplace_back(-length, name);
  std::ranges::sort(longest);
  std::set<std::string> kept;
  for (std::size_t i = 0; i + 1 < most_program_ops; ++i) kept.insert(longest[i].second);
  for (OpTime& one : times) {
    if (!kept.contains(one.op)) one.op = other_ranges;
  }
  return times;
}

/// As far as it lies in the part.
Interval within(const Interval& time, const std::optional<Interval>& part) {
  return part ? Interval{std::max(time.start, part->start), std::min(time.end, part->end)} : time;
}

std::vector<OpTime> op_times(const Trace& trace, const std::string& glob,
                             const std::optional<Interval>& part) {
  std::vector<const Range*> all, of_default_domain;
  for (const Range& range : trace.ranges) {
    if (!glob.empty() && !matches(glob, std::string(trace.text_of(range)))) continue;
    if (const Interval time = within(range.time, part); part && time.end <= time.start) continue;
    all.push_back(&range);
    if (range.domain == 0) of_default_domain.push_back(&range);
  }
  std::vector<OpTime> times = named(trace, outermost(of_default_domain.empty() ? all : of_default_domain));
  for (OpTime& one : times) one.time = within(one.time, part);
  return times;
}

/// Makes the case of a trace whose rows can be used and are in order.
class CaseMaker {
 public:
  CaseMaker(Trace& trace, const ProgramOptions& options, const Counts& counts, const OutermostCalls& calls)
      : trace_(trace),
        outermost_calls_(calls),
        cuda_starts_(options.cuda_starts),
        part_(options.part),
        times_(op_times(trace, options.ops, options.part)),
        work_(within(extent_of_work(), options.part)) {
    Interval window = options.part.value_or(options.life.value_or(work_));
    if (work_.end > 0 && !options.part)
      window = {std::min(window.start, work_.start), std::max(window.end, work_.end)};
    trace_.cases.push_back({.id = options.case_id, .window = window, .counts = counts});
    const auto take = [](auto& rows) {
      for (auto& row : rows) row.in_case = 0;
    };
    for_each_work(trace_, take);
    for_each_on_host(trace_, take);
    take(trace_.gpu_samples);
    for (GpuSamples& samples : trace_.gpu_samples) keep_within(samples, window);
    std::erase_if(trace_.gpu_samples, [](const GpuSamples& samples) { return samples.times.empty(); });
    if (options.part) limit_to(*options.part);
    find_processes();
  }

  std::vector<std::string> make() {
    if (times_.empty()) {
      place_all(whole_program);
    } else {
      place_by_calls();
    }
    add_extents();
    return ops();
  }

 private:
  [[nodiscard]] CaseInfo& info() { return trace_.cases.front(); }

  /// Ranges and calls as far as they lie in the part. CUDA graphs may have been captured before it: these
  /// nodes, and the ranges around them, are kept in no case.
  void limit_to(const Interval& part) {
    const auto is_outside = [&](const auto& row) {
      return row.time.end <= part.start || row.time.start >= part.end;
    };
    std::erase_if(trace_.system_calls, is_outside);
    std::erase_if(trace_.overheads, is_outside);
    // What was captured after the part ran in none of it.
    std::erase_if(trace_.graph_nodes, [&](const GraphNode& node) { return node.time.start >= part.end; });
    std::map<std::int64_t, std::set<std::int64_t>> captured;  // when, by process
    for (GraphNode& node : trace_.graph_nodes) {
      if (!is_outside(node)) continue;
      node.in_case = no_case;
      captured[nsys::process_of(node.thread)].insert(node.time.start);
    }
    std::vector<Range> kept;
    for (const Range& range : trace_.ranges) {
      const std::set<std::int64_t>& moments = captured[nsys::process_of(range.thread)];
      const auto first = moments.lower_bound(range.time.start);
      if (first != moments.end() && *first <= range.time.end) {
        kept.push_back(range);
        kept.back().in_case = no_case;
      }
      if (is_outside(range)) continue;
      kept.push_back(range);
      kept.back().time = within(range.time, part);
    }
    trace_.ranges = std::move(kept);
  }

  /// From the first work, call or range to the last. What the operating system was asked for around that, as
  /// by a program that loads its libraries, and what the profiler did then, is in the trace and in no op's
  /// time.
  [[nodiscard]] Interval extent_of_work() const {
    std::optional<Interval> all;
    const auto widen = [&](const auto& rows) {
      for (const auto& row : rows) {
        if (!all) all = row.time;
        all = Interval{std::min(all->start, row.time.start), std::max(all->end, row.time.end)};
      }
    };
    for_each_work(trace_, widen);
    widen(trace_.calls);
    widen(trace_.ranges);
    for (const Overhead& overhead : trace_.overheads) {
      if (!nsys::is_of_profiler(overhead.kind)) widen(std::array{overhead});
    }
    if (!all) widen(trace_.system_calls);
    return all.value_or(Interval{});
  }

  /// The case's own process is the one with the first call, or else the first work.
  void find_processes() {
    std::map<std::int64_t, ProcessInfo> known;
    for (const ProcessInfo& process : trace_.processes) known[process.id] = process;
    std::set<std::int64_t> used;
    std::optional<std::int64_t> last;  // the same for most rows in a file
    const auto use = [&](std::int64_t id) {
      if (last != id) used.insert(nsys::process_of(id));
      last = id;
    };
    for (const KernelRow& row : trace_.kernels.rows()) use(trace_.kernels.shared(row).process);
    for (const GraphExecution& row : trace_.graphs) use(row.process);
    for (const Transfer& row : trace_.transfers) use(row.process);
    for (const Synchronization& row : trace_.synchronizations) use(row.process);
    for (const Allocation& row : trace_.allocations) use(row.process);
    for_each_on_host(trace_, [&](const auto& rows) {
      for (const auto& row : rows) use(row.thread);
    });
    trace_.processes.clear();
    for (const std::int64_t id : used) {
      ProcessInfo& process = trace_.processes.emplace_back(known[id]);
      process.id = id;
      process.in_case = 0;
    }
    std::erase_if(trace_.threads,
                  [&](const ThreadInfo& thread) { return !used.contains(nsys::process_of(thread.id)); });
    std::ranges::sort(trace_.threads, {}, &ThreadInfo::id);
    if (!trace_.calls.empty()) {
      info().process = nsys::process_of(trace_.calls.front().thread);
    } else if (!used.empty()) {
      info().process = *used.begin();
    }
  }

  void place_all(const std::string& op) {
    const PlaceIndex place = trace_.index_of({op, part::op});
    for (Call& call : trace_.calls) call.place = place;
    for_each_work(trace_, [&](auto& rows) {
      for (auto& row : rows) row.place = place;
    });
    times_ = {{work_, info().process, op}};
  }

  /// What the GPU was given outside of all ranges is an op as well, so that nothing is missing in the sum.
  void place_by_calls() {
    const OpenOps open(times_);
    std::vector<PlaceIndex> of_ops(times_.size(), nowhere), places(1, nowhere);
    std::optional<PlaceIndex> outside;
    for (std::int64_t id = 1; id < outermost_calls_.ids(); ++id) {
      const Call* const call = outermost_calls_.of(id);
      const OpTime* const op = call == nullptr ? nullptr : open.at(call->thread, call->time.start);
      if (op != nullptr) {
        PlaceIndex& place = of_ops.at(static_cast<std::size_t>(op - times_.data()));
        if (place == nowhere) place = trace_.index_of({op->op, part::op});
        places.push_back(place);
      } else {
        if (call != nullptr && !outside) outside = trace_.index_of({outside_of_ranges, part::op});
        places.push_back(call == nullptr ? nowhere : *outside);
      }
    }
    const auto place_of = [&](std::int64_t id) { return places.at(static_cast<std::size_t>(id)); };
    const auto place = [&](auto& rows) {
      for (auto& row : rows) row.place = place_of(row.correlation);
    };
    place(trace_.calls);
    for (KernelRow& row : trace_.kernels.rows()) row.place = place_of(trace_.kernels.correlation(row));
    place(trace_.graphs);
    place(trace_.transfers);
    place(trace_.synchronizations);
    place(trace_.allocations);
    place_migrations(open);
    place_outside();
  }

  /// Pages of unified memory migrate without a call: for the kernel that runs then, or else for the host.
  void place_migrations(const OpenOps& open) {
    std::map<std::pair<std::int64_t, std::uint32_t>, std::vector<const KernelRow*>>
        kernels;  // by process, GPU
    for (const KernelRow& row : trace_.kernels.rows()) {
      const Kernel& shared = trace_.kernels.shared(row);
      kernels[{shared.process, shared.queue.device}].push_back(&row);
    }
    for (Transfer& transfer : trace_.transfers) {
      if (transfer.place != nowhere || !is_migration(transfer.kind)) continue;
      const std::vector<const KernelRow*>& of_gpu = kernels[{transfer.process, transfer.queue.device}];
      const auto next = std::ranges::upper_bound(of_gpu, transfer.time.start, {},
                                                 [](const KernelRow* kernel) { return kernel->time.start; });
      if (next != of_gpu.begin() && transfer.time.start < (*std::prev(next))->time.end) {
        transfer.place = (*std::prev(next))->place;
      } else if (const OpTime* const op = open.at(transfer.process, transfer.time.start)) {
        transfer.place = trace_.index_of({op->op, part::op});
      }
    }
  }

  void place_outside() {
    const PlaceIndex outside = trace_.index_of({outside_of_ranges, part::op});
    bool any = false;
    const auto place = [&](auto& rows) {
      for (auto& row : rows) {
        if (row.place == nowhere) row.place = outside;
        any = any || row.place == outside;
      }
    };
    place(trace_.kernels.rows());
    place(trace_.graphs);
    place(trace_.transfers);
    if (!any) return;
    std::vector<Interval> inside;
    for (const OpTime& one : times_) inside.push_back(one.time);
    const IntervalSet rest = IntervalSet({work_}) - IntervalSet(std::move(inside));
    for (const Interval& time : rest.intervals()) times_.push_back({time, info().process, outside_of_ranges});
  }

  /// Around the whole case, and for each op; in no table of Nsight Systems.
  void add_extents() {
    std::uint64_t id = 0;
    const NameIndex domain = trace_.names.index(own_domain);
    const auto add = [&](const Interval& time, std::int64_t thread, const std::string& text,
                         const Place& place) {
      trace_.ranges.push_back({.time = time,
                               .thread = thread,
                               .end_thread = thread,
                               .name = trace_.names.index(fmt::format("{}:{}", own_domain, text)),
                               .domain = domain,
                               .style = RangeStyle::extent,
                               .place = trace_.index_of(place),
                               .id = ++id});
    };
    add(info().window, info().process, info().id, {"", part::between});
    for (const Interval& start : cuda_starts_) {
      const Interval time = within(start, part_);
      if (time.start <= time.end) add(time, info().process, cuda_start, {"", part::between});
    }
    for (const OpTime& one : times_) add(one.time, one.thread, one.op, {one.op, part::op});
  }

  /// By their first starts; what lies outside of the others comes last.
  [[nodiscard]] std::vector<std::string> ops() const {
    std::map<std::string, std::int64_t> starts;
    for (const OpTime& one : times_) {
      const auto [entry, is_new] = starts.try_emplace(one.op, one.time.start);
      entry->second = std::min(entry->second, one.time.start);
    }
    std::vector<std::string> names;
    for (const auto& [name, start] : starts) names.push_back(name);
    std::ranges::stable_sort(names, {}, [&](const std::string& name) {
      return std::pair(name == outside_of_ranges, starts.at(name));
    });
    return names;
  }

  Trace& trace_;
  const OutermostCalls& outermost_calls_;
  const std::vector<Interval>& cuda_starts_;
  const std::optional<Interval>& part_;
  std::vector<OpTime> times_;
  Interval work_;
};

}  // namespace

bool fits_any_range(const Trace& trace, const std::string& glob) {
  return std::ranges::any_of(
      trace.ranges, [&](const Range& range) { return matches(glob, std::string(trace.text_of(range))); });
}

bool has_impossible_time(const Call& call) {
  return fault_of(call) != Fault::none;
}

void leave_out_impossible(Trace& trace) {
  Sieve sieve;
  for_each_work(trace, [&](auto& rows) { sieve(rows); });
  for_each_on_host(trace, [&](auto& rows) { sieve(rows); });
  OverlapSieve(trace).remove_from(trace);
}

std::vector<std::string> make_program_case(Trace& trace, const ProgramOptions& options) {
  Sieve sieve;
  for_each_work(trace, [&](auto& rows) { sieve(rows); });
  for_each_on_host(trace, [&](auto& rows) { sieve(rows); });
  for_each_work(trace, [&](auto& rows) { sort_work(trace, rows); });
  for_each_on_host(trace, [&](auto& rows) { sort_on_host(trace, rows); });
  const std::uint32_t ids = Correlations(trace).count();
  Counts counts = sieve.counts();
  counts.overlapping = OverlapSieve(trace).remove_from(trace);
  const OutermostCalls calls(trace.calls, ids);
  counts.early = count_early(trace, calls);
  trace.cases.clear();
  std::ranges::sort(trace.gpus, {}, &Gpu::id);
  const bool empty = trace.kernels.empty() && trace.graphs.empty() && trace.transfers.empty() &&
                     trace.calls.empty() && trace.ranges.empty() && trace.system_calls.empty();
  if (empty) return {};
  return CaseMaker(trace, options, counts, calls).make();
}

}  // namespace mprof::trace
