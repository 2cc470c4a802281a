// SPDX-License-Identifier: MIT
#include "report/analysis/standing/time_budget.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <span>
#include <utility>

#include "model/trace/launches.hpp"
#include "model/trace/nsys_schema.hpp"
#include "model/trace/program.hpp"

namespace mprof {

/// By the places of their cases.
struct KnownBudgets {
  std::map<trace::CaseIndex, std::optional<TimeBudget>> of_case;
};

namespace {

using trace::IntervalSet;
using Window = trace::Interval;

/// The moments of the rows that `keep` keeps.
template <class Row, class Keep>
IntervalSet moments_of(std::span<const Row> rows, const Keep& keep) {
  std::vector<Window> times;
  times.reserve(rows.size());
  for (const Row& row : rows) {
    if (keep(row)) times.push_back(row.time);
  }
  return IntervalSet(std::move(times));
}

template <class Row>
IntervalSet moments_of(std::span<const Row> rows) {
  return moments_of(rows, [](const Row&) { return true; });
}

bool goes_in(const trace::Transfer& transfer) {
  return trace::is_into_device(transfer.kind);
}

bool goes_out(const trace::Transfer& transfer) {
  return trace::is_out_of_device(transfer.kind);
}

/// Gives each moment to the first part that asks for it.
class Sharing {
 public:
  explicit Sharing(IntervalSet moments) : rest_(std::move(moments)) {}

  void give(BudgetPart part, const IntervalSet& moments) { of(part) = rest_.take(moments); }
  void give_rest(BudgetPart part) { of(part) = std::exchange(rest_, IntervalSet()); }
  [[nodiscard]] const IntervalSet& rest() const { return rest_; }
  [[nodiscard]] MomentsOfParts shared() && { return std::move(shared_); }

 private:
  IntervalSet& of(BudgetPart part) { return shared_.at(static_cast<std::size_t>(part)); }

  IntervalSet rest_;
  MomentsOfParts shared_;
};

}  // namespace

/// What was recorded of a case.
struct BudgetRows {
  BudgetRows(const trace::Trace& of, trace::CaseIndex index)
      : trace(of),
        kernels(trace::of_case(of.kernels.rows(), index)),
        graphs(trace::of_case(of.graphs, index)),
        transfers(trace::of_case(of.transfers, index)),
        calls(trace::of_case(of.calls, index)),
        system_calls(trace::of_case(of.system_calls, index)),
        ranges(trace::of_case(of.ranges, index)),
        pauses(trace::of_case(of.pauses, index)),
        synchronizations(trace::of_case(of.synchronizations, index)),
        overheads(trace::of_case(of.overheads, index)),
        call_kinds(of) {}

  [[nodiscard]] auto calls_of(trace::CallKind kind) const {
    return moments_of(calls, [&, kind](const trace::Call& call) { return call_kinds.of(call) == kind; });
  }
  /// The stages of the ops.
  [[nodiscard]] IntervalSet stages() const {
    return moments_of(ranges, [&](const trace::Range& range) {
      const trace::Place& place = trace.places[range.place];
      return !place.op.empty() && place.part != trace::part::between && place.part != trace::part::pause;
    });
  }
  /// When CUDA came up in the processes of a program.
  [[nodiscard]] IntervalSet cuda_starts() const {
    return moments_of(ranges, [&](const trace::Range& range) {
      return trace.names[range.domain] == trace::own_domain && trace.text_of(range) == trace::cuda_start;
    });
  }
  /// One stream's waiting for an event keeps no host.
  [[nodiscard]] IntervalSet host_waits() const {
    return moments_of(synchronizations,
                      [](const trace::Synchronization& wait) {
                        return wait.kind != trace::SynchronizationKind::stream_wait_event;
                      }) |
           calls_of(trace::CallKind::wait);
  }

  const trace::Trace& trace;
  std::span<const trace::KernelRow> kernels;
  std::span<const trace::GraphExecution> graphs;
  std::span<const trace::Transfer> transfers;
  std::span<const trace::Call> calls;
  std::span<const trace::Call> system_calls;
  std::span<const trace::Range> ranges;
  std::span<const trace::Pause> pauses;
  std::span<const trace::Synchronization> synchronizations;
  std::span<const trace::Overhead> overheads;
  mutable trace::CallKinds call_kinds;
};

/// What the threads that call CUDA were in of the operating system. Others, such as the driver's own, which
/// wait all the time, say nothing of the program.
class HostInSystem {
 public:
  explicit HostInSystem(const BudgetRows& rows) {
    std::map<std::int64_t, std::vector<Window>> threads;
    std::map<trace::NameIndex, std::vector<Window>> names;
    for (const trace::Call& call : rows.calls) lives_[call.thread] = around(call);
    for (const trace::Call& call : rows.system_calls) {
      if (!lives_.contains(call.thread)) continue;
      lives_[call.thread] = around(call);
      threads[call.thread].push_back(call.time);
      names[call.name].push_back(call.time);
    }
    IntervalSet outside;
    for (const auto& [thread, life] : lives_)
      outside = outside | (IntervalSet({life}) - IntervalSet(threads[thread]));
    for (const auto& [name, times] : names) {
      IntervalSet moments(times);
      any_ = any_ | moments;
      names_.emplace_back(rows.trace.names[name], std::move(moments));
    }
    all_ = any_ - outside;
  }

  /// When none of these threads was out of the operating system between its first call and its last.
  [[nodiscard]] const IntervalSet& moments() const { return all_; }
  /// By how much of `idle` the calls of each name filled.
  [[nodiscard]] std::vector<SystemTime> times_within(const IntervalSet& idle) const {
    std::vector<SystemTime> times;
    for (const auto& [name, moments] : names_) {
      if (const std::int64_t time = moments.length_in(idle); time > 0) times.push_back({name, time});
    }
    std::ranges::sort(times, [](const SystemTime& a, const SystemTime& b) {
      return std::pair(-a.time, std::string_view(a.name)) < std::pair(-b.time, std::string_view(b.name));
    });
    return times;
  }

 private:
  Window around(const trace::Call& call) const {
    const auto known = lives_.find(call.thread);
    if (known == lives_.end()) return call.time;
    return {std::min(known->second.start, call.time.start), std::max(known->second.end, call.time.end)};
  }

  std::map<std::int64_t, Window> lives_;  ///< by thread, from its first call to its last
  std::vector<std::pair<std::string, IntervalSet>> names_;
  IntervalSet any_;
  IntervalSet all_;
};

/// What kept the host while a GPU was idle. The first that holds counts.
struct HostCauses {
  HostCauses(const BudgetRows& rows, const HostInSystem& system)
      : starts(rows.cuda_starts()),
        moments{{{BudgetPart::idle_start, starts},
                 {BudgetPart::idle_tracing, moments_of(rows.overheads)},
                 {BudgetPart::idle_waiting, rows.host_waits()},
                 {BudgetPart::idle_allocation, rows.calls_of(trace::CallKind::allocation)},
                 {BudgetPart::idle_calls, moments_of(rows.calls)},
                 {BudgetPart::idle_system, system.moments()}}} {}

  void share_idle(Sharing& sharing) const {
    if (!starts.empty() && !sharing.rest().empty())
      sharing.give(
          BudgetPart::idle_before,
          IntervalSet({{sharing.rest().intervals().front().start, starts.intervals().front().start}}));
    for (const auto& [part, when] : moments) sharing.give(part, when);
    sharing.give_rest(BudgetPart::idle_host);
  }

  IntervalSet starts;
  std::array<std::pair<BudgetPart, IntervalSet>, 6> moments;
};

namespace {

/// mprof's own ranges around the whole case, by start.
std::vector<Window> executions_of(const BudgetRows& rows, const std::string& id) {
  std::vector<Window> executions;
  for (const trace::Range& range : rows.ranges) {
    const bool own = rows.trace.names[range.domain] == trace::own_domain;
    if (own && rows.trace.text_of(range) == id) executions.push_back(range.time);
  }
  std::ranges::sort(executions, {}, &Window::start);
  return executions;
}

/// From the first activity to the last.
std::vector<Window> all_that_was_recorded(const BudgetRows& rows) {
  const IntervalSet all = moments_of(rows.kernels) | moments_of(rows.transfers) | moments_of(rows.calls) |
                          moments_of(rows.ranges);
  if (all.empty()) return {};
  return {{all.intervals().front().start, all.intervals().back().end}};
}

/// The place of the one whose length is the median of all.
std::size_t median_execution(const std::vector<Window>& executions) {
  std::vector<std::size_t> order(executions.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return executions[i].length(); });
  return order[(order.size() - 1) / 2];
}

/// B of the copies between host and device; of one that reaches beyond the execution its part within.
double copied_within(const BudgetRows& rows, const Window& execution) {
  double copied = 0;
  for (const trace::Transfer& transfer : rows.transfers) {
    if (!goes_in(transfer) && !goes_out(transfer)) continue;
    const Window& time = transfer.time;
    const std::int64_t within = std::min(time.end, execution.end) - std::max(time.start, execution.start);
    if (within > 0)
      copied += static_cast<double>(transfer.bytes) * static_cast<double>(within) /
                static_cast<double>(time.length());
  }
  return copied;
}

/// The GPUs that had work, each with its processes that ran kernels there.
std::map<std::uint32_t, std::set<std::int64_t>> users_of_gpus(const BudgetRows& rows) {
  std::map<std::uint32_t, std::set<std::int64_t>> users;
  std::optional<std::uint32_t> last;
  for (const trace::KernelRow& row : rows.kernels) {
    if (row.shared == last) continue;
    last = row.shared;
    const trace::Kernel& kernel = rows.trace.kernels.shared(row);
    users[kernel.queue.device].insert(kernel.process);
  }
  for (const trace::GraphExecution& graph : rows.graphs) users[graph.queue.device].insert(graph.process);
  for (const trace::Transfer& transfer : rows.transfers) users[transfer.queue.device];
  return users;
}

GpuShare share_of_gpu(const BudgetRows& rows, std::uint32_t gpu, const IntervalSet& window,
                      const HostCauses& causes) {
  const auto here = [gpu](const auto& row) { return row.queue.device == gpu; };
  const auto kernel_here = [&](const trace::KernelRow& row) {
    return rows.trace.kernels.shared(row).queue.device == gpu;
  };
  const IntervalSet kernels =
      (moments_of(rows.kernels, kernel_here) | moments_of(rows.graphs, here)) & window;
  const IntervalSet copies = (moments_of(rows.transfers, here) & window) - kernels;
  Sharing sharing(window - kernels - copies);
  causes.share_idle(sharing);
  GpuShare share{.gpu = gpu, .kernels = kernels.length(), .copies = copies.length()};
  std::ranges::transform(std::move(sharing).shared(), share.idle.begin(), &IntervalSet::length);
  return share;
}

std::vector<ProcessShare> shares_of_processes(const BudgetRows& rows, const IntervalSet& window) {
  std::map<std::pair<std::uint32_t, std::int64_t>, std::vector<Window>> times;
  for (const trace::KernelRow& row : rows.kernels) {
    const trace::Kernel& kernel = rows.trace.kernels.shared(row);
    times[{kernel.queue.device, kernel.process}].push_back(row.time);
  }
  for (const trace::GraphExecution& graph : rows.graphs)
    times[{graph.queue.device, graph.process}].push_back(graph.time);
  std::map<std::pair<std::uint32_t, std::int64_t>, std::int64_t> within;
  std::map<std::uint32_t, std::size_t> processes;
  for (auto& [place, of_process] : times) {
    const std::int64_t time = IntervalSet(std::move(of_process)).length_in(window);
    if (time == 0) continue;
    within.emplace(place, time);
    ++processes[place.first];
  }
  std::vector<ProcessShare> shares;
  for (const auto& [place, time] : within) {
    const auto& [gpu, process] = place;
    if (processes.at(gpu) > 1) shares.push_back({gpu, trace::nsys::native_process(process), time});
  }
  return shares;
}

/// From before anything was recorded to after it; the length of it is no overflow.
constexpr Window always{std::numeric_limits<std::int64_t>::min() / 4,
                        std::numeric_limits<std::int64_t>::max() / 4};

/// A chain of baselines this long goes in a circle.
constexpr int longest_budget_chain = 64;

/// The first of a case's baselines, as the analysis compared them, of those that were traced; nullopt when
/// none was.
std::optional<CaseBudget> first_traced_baseline(const FamilyResult& family, const CaseResult& result,
                                                const Evidence& evidence) {
  std::optional<CaseBudget> first;
  const CaseResult* step = family.find(result.baseline);
  for (int i = 0; step != nullptr && step != &result && i < longest_budget_chain; ++i) {
    if (CaseBudget budget = budget_of(*step, evidence); budget.budget) first = std::move(budget);
    step = family.find(step->baseline);
  }
  return first;
}

/// The fastest of the verified cases at a problem that have a budget; nullopt when none has.
std::optional<CaseBudget> fastest_traced(const FamilyResult& family, const Problem& problem,
                                         const Evidence& evidence) {
  std::optional<CaseBudget> fastest;
  for (const VariantResult& variant : family.variants) {
    const CaseResult* result = variant.representative(problem);
    if (result == nullptr || !result->ok() || !result->total_time) continue;
    const bool faster = !fastest || result->total_time->median < fastest->result->total_time->median;
    if (!faster) continue;
    if (CaseBudget budget = budget_of(*result, evidence); budget.budget) fastest = std::move(budget);
  }
  return fastest;
}

/// The fastest of all verified cases at a problem, by total time; nullptr when there is none.
const CaseResult* fastest_of_all(const FamilyResult& family, const Problem& problem) {
  for (const Best& best : family.best) {
    if (best.op.empty() && best.problem == problem) return best.fastest;
  }
  return nullptr;
}

/// Where nothing was timed without a profiler, the trace is all there is: of the first two that have one.
void add_untimed(const FamilyResult& family, const Evidence& evidence, BudgetComparison& comparison) {
  constexpr std::size_t most = 2;
  for (auto problem = family.problems.rbegin(); problem != family.problems.rend(); ++problem) {
    for (const VariantResult& variant : family.variants) {
      const CaseResult* result = variant.representative(*problem);
      if (result == nullptr || !result->ok() || comparison.cases.size() == most) continue;
      CaseBudget budget = budget_of(*result, evidence);
      if (budget.budget) {
        comparison.cases.push_back(std::move(budget));
      } else if (budget.absent.because == Because::case_lacks_kernels) {
        comparison.absent = std::move(budget.absent);
      }
    }
    comparison.problem = *problem;
    if (!comparison.cases.empty()) return;
  }
}

}  // namespace

double TimeBudget::seconds() const {
  constexpr double seconds_in_ns = 1e-9;
  return static_cast<double>(window) * seconds_in_ns;
}

double TimeBudget::share(BudgetPart part) const {
  return static_cast<double>(of(part)) / static_cast<double>(window);
}

std::int64_t TimeBudget::idle() const {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < budget_parts; ++i) {
    if (is_idle(static_cast<BudgetPart>(i))) sum += parts.at(i);
  }
  return sum;
}

std::optional<double> TimeBudget::copy_rate() const {
  constexpr double ns_in_a_second = 1e9;
  return copying > 0 ? std::optional(copied / static_cast<double>(copying) * ns_in_a_second) : std::nullopt;
}

struct SharedTime::Rows : BudgetRows {
  Rows(const trace::Trace& of, trace::CaseIndex at, const std::optional<Window>& within)
      : BudgetRows(of, at),
        index(at),
        pauses_set(moments_of(pauses)),
        users(users_of_gpus(*this)),
        in(moments_of(transfers, goes_in)),
        out(moments_of(transfers, goes_out)),
        system(*this) {
    HostCauses host(*this, system);
    parts = share_out(IntervalSet({within.value_or(always)}) - pauses_set, host);
    if (users.size() > 1) causes = std::move(host);
  }

  [[nodiscard]] MomentsOfParts share_out(IntervalSet all, const HostCauses& host) const {
    const IntervalSet copies = moments_of(transfers);
    Sharing sharing(std::move(all));
    {
      const IntervalSet work = moments_of(kernels) | moments_of(graphs);
      sharing.give(BudgetPart::kernels_and_copies, work & copies);
      sharing.give(BudgetPart::kernels, work);
    }
    sharing.give(BudgetPart::copies_both_ways, in & out);
    sharing.give(BudgetPart::copies_in, in);
    sharing.give(BudgetPart::copies_out, out);
    sharing.give(BudgetPart::other_work, copies);
    host.share_idle(sharing);
    return std::move(sharing).shared();
  }
  [[nodiscard]] const IntervalSet& moments(BudgetPart part) const {
    return parts.at(static_cast<std::size_t>(part));
  }
  [[nodiscard]] bool is_any_gpu_shared() const {
    return std::ranges::any_of(users, [](const auto& gpu) { return gpu.second.size() > 1; });
  }

  trace::CaseIndex index;
  IntervalSet pauses_set;
  std::map<std::uint32_t, std::set<std::int64_t>> users;  ///< processes by GPU
  IntervalSet in, out;
  HostInSystem system;
  MomentsOfParts parts;
  std::optional<HostCauses> causes;  ///< of several GPUs: each is idle at times of its own
};

SharedTime::SharedTime(const trace::Trace& trace, trace::CaseIndex index,
                       const std::optional<trace::Interval>& within)
    : rows_(std::make_unique<const Rows>(trace, index, within)) {}
SharedTime::SharedTime(SharedTime&&) noexcept = default;
SharedTime& SharedTime::operator=(SharedTime&&) noexcept = default;
SharedTime::~SharedTime() = default;

std::optional<TimeBudget> SharedTime::of(const trace::Interval& part) const {
  const Rows& rows = *rows_;
  const IntervalSet whole({part}), window = whole - rows.pauses_set;
  if (window.empty()) return std::nullopt;
  TimeBudget budget{.window = window.length()};
  std::ranges::transform(rows.parts, budget.parts.begin(),
                         [&](const IntervalSet& moments) { return moments.length_in(whole); });
  budget.paused = whole.length() - budget.window;
  for (const auto& [gpu, unused] : rows.users) {
    if (rows.causes) budget.gpus.push_back(share_of_gpu(rows, gpu, window, *rows.causes));
  }
  if (rows.is_any_gpu_shared()) budget.processes = shares_of_processes(rows, window);
  const trace::Counts& counts = rows.trace.cases.at(rows.index).counts;
  budget.lacking = counts.dropped + counts.zero_time + counts.reversed + counts.overlapping;
  if (const IntervalSet stages = rows.stages(); !stages.empty())
    budget.host_outside_ops = (rows.moments(BudgetPart::idle_host) & (whole - stages)).length();
  budget.copied = copied_within(rows, {window.intervals().front().start, window.intervals().back().end});
  budget.copying = rows.in.length_in(window) + rows.out.length_in(window);
  budget.system = rows.system.times_within(rows.moments(BudgetPart::idle_system) & whole);
  return budget;
}

MomentsOfParts SharedTime::idle_in(const trace::Interval& part) const {
  const IntervalSet whole({part});
  MomentsOfParts idle;
  for (std::size_t i = 0; i < budget_parts; ++i) {
    if (is_idle(static_cast<BudgetPart>(i))) idle.at(i) = rows_->parts.at(i) & whole;
  }
  return idle;
}

MomentsOfParts idle_moments(const trace::Trace& trace, trace::CaseIndex index, const trace::Interval& part) {
  return SharedTime(trace, index, part).idle_in(part);
}

std::optional<TimeBudget> SharedTime::of_execution() const {
  const Rows& rows = *rows_;
  std::vector<Window> executions = executions_of(rows, rows.trace.cases.at(rows.index).id);
  if (executions.empty()) executions = all_that_was_recorded(rows);
  if (executions.empty()) return std::nullopt;
  const std::size_t chosen = median_execution(executions);
  std::optional<TimeBudget> budget = of(executions[chosen]);
  if (!budget) return std::nullopt;
  budget->executions = executions.size();
  budget->execution = chosen + 1;
  return budget;
}

std::optional<TimeBudget> time_budget(const trace::Trace& trace, trace::CaseIndex index) {
  return SharedTime(trace, index).of_execution();
}

CaseBudget budget_of(const CaseResult& result, const Evidence& evidence) {
  if (!evidence.profile) return {&result, std::nullopt, said(evidence.absent)};
  const std::vector<trace::CaseInfo>& cases = evidence.profile->cases;
  const auto found = std::ranges::find(cases, result.id, &trace::CaseInfo::id);
  if (found == cases.end()) return {&result, std::nullopt, Why(Because::case_not_traced, {result.id})};
  const auto index = static_cast<trace::CaseIndex>(found - cases.begin());
  if (const std::uint64_t unseen = trace::unseen_launches(*evidence.profile, index); unseen > 0)
    return {&result, std::nullopt,
            Why(Because::case_lacks_kernels, {result.id}, {static_cast<double>(unseen)})};
  if (!evidence.budgets) evidence.budgets = std::make_shared<KnownBudgets>();
  const auto [known, is_new] = evidence.budgets->of_case.try_emplace(index);
  if (is_new) known->second = time_budget(*evidence.profile, index);
  CaseBudget budget{&result, known->second, {}};
  if (!budget.budget) budget.absent = {Because::case_without_activity, {result.id}};
  return budget;
}

BudgetComparison compare_budgets(const FamilyResult& family, const Evidence& evidence) {
  BudgetComparison comparison;
  if (!evidence.profile) {
    comparison.absent = said(evidence.absent);
    return comparison;
  }
  bool timed = false;
  for (auto problem = family.problems.rbegin(); problem != family.problems.rend(); ++problem) {
    const CaseResult* fastest = fastest_of_all(family, *problem);
    timed = timed || fastest != nullptr;
    std::optional<CaseBudget> after = fastest_traced(family, *problem, evidence);
    if (!after) continue;
    std::optional<CaseBudget> before = first_traced_baseline(family, *after->result, evidence);
    if (!before && !after->result->is_baseline) continue;
    if (fastest != nullptr && fastest->total_time->median < after->result->total_time->median)
      comparison.faster = fastest;
    if (before) comparison.cases.push_back(*std::move(before));
    comparison.cases.push_back(*std::move(after));
    comparison.problem = *problem;
    return comparison;
  }
  if (!timed) add_untimed(family, evidence, comparison);
  if (comparison.absent.empty())
    comparison.absent = timed ? Because::none_traced_with_baseline : Because::no_verified_time;
  return comparison;
}

}  // namespace mprof
