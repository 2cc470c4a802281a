// SPDX-License-Identifier: MIT
#include "report/analysis/program/slow_steps.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "model/statistics/median.hpp"
#include "model/trace/interval_set.hpp"
#include "model/trace/nsys_schema.hpp"
#include "report/analysis/program/range_words.hpp"
#include "report/analysis/program/step_kernels.hpp"
#include "report/analysis/standing/time_budget.hpp"
#include "report/trace/range_nesting.hpp"

namespace mprof {
namespace {

using trace::IntervalSet;
using SlowWhat = SlowCause::What;

/// A cause explains such a part of what a step took longer, or it is not told.
constexpr double least_explained = 0.25;

trace::Interval own_time(const ProgramStep& step) {
  return {step.done - step.pace, step.done};
}

/// How much of a set of moments lies in each of the steady steps.
std::vector<std::int64_t> lengths_in_steps(const IntervalSet& moments, const Steps& steps) {
  std::vector<std::int64_t> lengths(steps.steady_steps());
  const std::vector<trace::Interval>& all = moments.intervals();
  std::size_t at = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const trace::Interval own = own_time(steps.all[steps.steady + i]);
    while (at < all.size() && all[at].end <= own.start) ++at;
    for (std::size_t j = at; j < all.size() && all[j].start < own.end; ++j)
      lengths[i] += std::min(all[j].end, own.end) - std::max(all[j].start, own.start);
  }
  return lengths;
}

/// By how much the value of a step is above the median of all steady ones.
template <class Number>
Number excess(const std::vector<Number>& values, std::size_t step, const Steps& steps) {
  const std::vector<double> numbers(values.begin(), values.end());
  return values[step - steps.steady] - static_cast<Number>(std::llround(median(numbers)));
}

bool loads_code(std::string_view call) {
  return call.find("ModuleLoad") != call.npos || call.find("LibraryLoad") != call.npos ||
         call.starts_with("cuLink");
}

std::string_view overhead_label(std::uint32_t kind) {
  const auto& rows = trace::nsys::overhead_kind_rows;
  const auto* const row = std::ranges::find(rows, static_cast<int>(kind), &trace::nsys::EnumRow::id);
  return row == rows.end() ? std::string_view() : row->label.substr(0, row->label.find(" (Profiler)"));
}

/// What the host did while the GPU had nothing to do in a slow step.
class SlowStepCauses {
 public:
  SlowStepCauses(const trace::Trace& trace, trace::CaseIndex index, const Steps& steps,
                 const SharedTime& time)
      : trace_(trace),
        index_(index),
        steps_(steps),
        kernels_(trace, index, steps),
        nesting_(trace, index, &steps, steps.steady_time(), steps.steady_steps()),
        idle_(time.idle_in(steps.steady_time())) {
    for (const trace::Call& call : trace::of_case(trace.calls, index)) threads_.insert(call.thread);
  }

  void add(SlowStep& slow) {
    step_ = slow.step;
    slow_ = &slow;
    std::vector<std::int64_t> launches;
    for (std::size_t i = steps_.steady; i < steps_.all.size(); ++i)
      launches.push_back(static_cast<std::int64_t>(steps_.all[i].launches));
    slow.more_launches = excess(launches, step_, steps_);
    add_idle();
    add_work();
    std::ranges::stable_sort(slow.causes, std::ranges::greater{}, &SlowCause::more);
  }

 private:
  [[nodiscard]] trace::Interval own() const { return own_time(steps_.all[step_]); }
  [[nodiscard]] std::int64_t more_of(const IntervalSet& moments) const {
    return excess(lengths_in_steps(moments, steps_), step_, steps_);
  }
  [[nodiscard]] bool is_telling(std::int64_t more) const {
    return static_cast<double>(more) >= least_explained * static_cast<double>(slow_->more);
  }
  [[nodiscard]] const IntervalSet& idle(BudgetPart part) const {
    return idle_.at(static_cast<std::size_t>(part));
  }
  template <class Rows, class Keep>
  [[nodiscard]] static IntervalSet moments_of(const Rows& rows, const Keep& keep) {
    std::vector<trace::Interval> times;
    for (const auto& row : rows) {
      if (keep(row)) times.push_back(row.time);
    }
    return IntervalSet(std::move(times));
  }

  void keep(SlowCause cause) {
    if (is_telling(cause.more)) slow_->causes.push_back(std::move(cause));
  }

  /// Ranges that make a step, or hold one, do not tell where in it something is.
  [[nodiscard]] std::string range_of(const IntervalSet& moments) {
    if (nesting_.empty()) return {};
    RangeShares shares(nesting_);
    const IntervalSet within = moments & IntervalSet({own()});
    for (const trace::Interval& one : within.intervals())
      shares.add(one.start + one.length() / 2, one.length());
    std::string range = shares.most().first;
    if (steps_.names.size() == 1 && range == steps_.names.front()) return {};
    return range;
  }

  /// How much of some moments lies in rows, by a key of theirs and by step.
  template <class Key>
  using Lengths = std::map<Key, std::vector<std::int64_t>>;
  template <class Rows, class KeyOf>
  auto lengths_by(const Rows& rows, const IntervalSet& moments, const KeyOf& key_of) const {
    using Key = typename decltype(key_of(*rows.begin()))::value_type;
    std::map<Key, std::vector<trace::Interval>> times;
    for (const auto& row : rows) {
      if (const auto key = key_of(row)) times[*key].push_back(row.time);
    }
    Lengths<Key> lengths;
    for (auto& [key, of_key] : times)
      lengths[key] = lengths_in_steps(IntervalSet(std::move(of_key)) & moments, steps_);
    return lengths;
  }
  /// The key with the most beyond the median step; nullopt: none has any.
  template <class Key>
  std::optional<Key> most_of(const Lengths<Key>& lengths) const {
    std::int64_t most = 0;
    std::optional<Key> found;
    for (const auto& [key, of_key] : lengths) {
      const std::int64_t more = excess(of_key, step_, steps_);
      if (more > most) {
        most = more;
        found = key;
      }
    }
    return found;
  }

  [[nodiscard]] auto calls() const { return trace::of_case(trace_.calls, index_); }
  /// Other threads than the one of the steps may be parked in a call all the time.
  [[nodiscard]] bool tells_of_system(std::int64_t thread) const {
    const bool by_main = !nesting_.empty() && threads_.contains(nesting_.main());
    return by_main ? thread == nesting_.main() : threads_.contains(thread);
  }
  [[nodiscard]] std::string text_of(const std::optional<trace::NameIndex>& name) const {
    return name ? trace_.names[*name] : std::string();
  }
  /// The call, of CUDA or of the system, in which the host was the most while the GPU was idle by a cause.
  [[nodiscard]] std::optional<trace::NameIndex> call_in(BudgetPart part) {
    const auto [known, is_new] = calls_in_.try_emplace(part);
    if (is_new) {
      const auto key = [](const trace::Call& call) { return std::optional(call.name); };
      known->second = part == BudgetPart::idle_system
                          ? lengths_by(trace::of_case(trace_.system_calls, index_), idle(part),
                                       [&](const trace::Call& call) {
                                         return tells_of_system(call.thread) ? key(call) : std::nullopt;
                                       })
                          : lengths_by(calls(), idle(part), key);
    }
    return most_of(known->second);
  }

  /// How many more calls of a name end in this step than in the median one.
  [[nodiscard]] std::uint64_t more_calls(const std::optional<trace::NameIndex>& name) {
    if (!name) return 0;
    const auto [known, is_new] = counts_.try_emplace(*name, steps_.steady_steps());
    if (is_new) {
      for (const trace::Call& call : calls()) {
        if (call.name != *name) continue;
        if (const auto place = steps_.place_in_steady(call.time.end)) ++known->second[*place];
      }
    }
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, excess(known->second, step_, steps_)));
  }

  void add_idle() {
    add_overheads();
    for (const auto& [part, what] : {std::pair(BudgetPart::idle_waiting, SlowWhat::waiting),
                                     std::pair(BudgetPart::idle_allocation, SlowWhat::allocating)}) {
      const IntervalSet& moments = idle(part);
      const std::int64_t more = more_of(moments);
      if (!is_telling(more)) continue;
      const auto name = call_in(part);
      keep({.what = what,
            .more = more,
            .name = text_of(name),
            .range = range_of(moments),
            .count = more_calls(name)});
    }
    IntervalSet host = idle(BudgetPart::idle_host), called = idle(BudgetPart::idle_calls),
                system = idle(BudgetPart::idle_system);
    const IntervalSet garbage = collect_garbage(host | called | system);
    host = host - garbage;
    called = called - garbage;
    system = system - garbage;
    if (add_drained(host | called)) return add_system(system);
    add_calls(called);
    add_system(system);
    add_host(host);
  }

  void add_overheads() {
    const IntervalSet& moments = idle(BudgetPart::idle_tracing);
    constexpr std::uint32_t driver_compiler = 2;
    const auto rows = trace::of_case(trace_.overheads, index_);
    const auto add = [&](SlowWhat what, const auto& is_it) {
      const IntervalSet these = moments_of(rows, is_it) & moments;
      if (these.empty()) return;
      SlowCause cause{.what = what, .more = more_of(these), .range = range_of(these)};
      if (what == SlowWhat::recording)
        cause.name = overhead_label(most_of(lengths_by(rows, these, [](const trace::Overhead& one) {
                                      return std::optional(one.kind);
                                    })).value_or(0));
      keep(std::move(cause));
    };
    add(SlowWhat::compiling, [](const trace::Overhead& one) { return one.kind == driver_compiler; });
    add(SlowWhat::loading_code, [](const trace::Overhead& one) {
      return one.kind != driver_compiler && !trace::nsys::is_of_profiler(one.kind);
    });
    add(SlowWhat::recording,
        [](const trace::Overhead& one) { return trace::nsys::is_of_profiler(one.kind); });
  }

  /// Returns when it was, where it is told.
  IntervalSet collect_garbage(const IntervalSet& moments) {
    const auto rows = trace::of_case(trace_.ranges, index_);
    const auto is_one = [&](const trace::Range& range) {
      return trace_.names[range.domain] != trace::own_domain && is_garbage_collection(trace_.text_of(range));
    };
    IntervalSet these = moments_of(rows, is_one) & moments;
    if (these.empty() || !is_telling(more_of(these))) return {};
    const auto text = most_of(lengths_by(rows, these, [&](const trace::Range& range) {
      return is_one(range) ? std::optional(trace_.text_of(range)) : std::nullopt;
    }));
    keep({.what = SlowWhat::collecting_garbage,
          .more = more_of(these),
          .name = std::string(text.value_or(std::string_view()))});
    return these;
  }

  /// The host waits for the GPU as it does not in most steps, and only then launches again: the queue runs
  /// empty. Where it runs its own code for most of the time after it, that is the cause.
  bool add_drained(const IntervalSet& moments) {
    const std::int64_t more = more_of(moments);
    if (!is_telling(more)) return false;
    const std::vector<trace::Interval> gaps = (moments & IntervalSet({own()})).intervals();
    std::map<trace::NameIndex, std::int64_t> by_call;
    for (const trace::Call* call : blocking_calls()) by_call[call->name] += gap_after(*call, gaps);
    for (const auto& [name, time] : by_call) {
      const std::uint64_t count = more_calls(name);
      if (count == 0 || 2 * time < more) continue;
      keep({.what = SlowWhat::drained,
            .more = more,
            .name = text_of(name),
            .range = range_of(moments),
            .count = count});
      return true;
    }
    return false;
  }

  /// Calls that end in the step, and did not return before the GPU was done with something.
  [[nodiscard]] std::vector<const trace::Call*> blocking_calls() const {
    std::unordered_map<std::int64_t, std::int64_t> copied;  // by correlation, when the copy ended
    for (const trace::Transfer& one : trace::of_case(trace_.transfers, index_))
      copied[one.correlation] = std::max(copied[one.correlation], one.time.end);
    std::vector<const trace::Call*> blocking;
    trace::CallKinds kinds(trace_);
    for (const trace::Call& call : calls()) {
      if (call.time.end <= own().start || call.time.end > own().end) continue;
      const trace::CallKind kind = kinds.of(call);
      const auto copy = copied.find(call.correlation);
      const bool waits_for_copy =
          kind == trace::CallKind::transfer && copy != copied.end() && copy->second <= call.time.end;
      if (kind == trace::CallKind::wait || waits_for_copy) blocking.push_back(&call);
    }
    return blocking;
  }

  /// ns of idle time from the end of a blocking call until the GPU works again. 0 where the host's own code
  /// takes the most of it.
  [[nodiscard]] std::int64_t gap_after(const trace::Call& call,
                                       const std::vector<trace::Interval>& gaps) const {
    const auto first =
        std::ranges::lower_bound(gaps, call.time.end, {}, [](const trace::Interval& gap) { return gap.end; });
    if (first == gaps.end() || first->start > call.time.end) return 0;
    const trace::Interval after{call.time.end, first->end};
    return 2 * longest_pause(IntervalSet({after})) >= after.length() ? 0 : after.length();
  }

  /// The longest time of the host's own code within some moments.
  [[nodiscard]] std::int64_t longest_pause(const IntervalSet& moments) const {
    std::int64_t longest = 0;
    const IntervalSet pauses = idle(BudgetPart::idle_host) & moments;
    for (const trace::Interval& one : pauses.intervals()) longest = std::max(longest, one.length());
    return longest;
  }

  void add_calls(const IntervalSet& moments) {
    const std::int64_t more = more_of(moments);
    if (!is_telling(more)) return;
    const auto name = call_in(BudgetPart::idle_calls);
    keep({.what = loads_code(text_of(name)) ? SlowWhat::loading_code : SlowWhat::calling,
          .more = more,
          .name = text_of(name),
          .range = range_of(moments),
          .count = more_calls(name)});
  }

  void add_system(const IntervalSet& moments) {
    const std::int64_t more = more_of(moments);
    if (!is_telling(more)) return;
    std::string range = range_of(moments);
    const SlowWhat what = is_loader(range) ? SlowWhat::loader : SlowWhat::system;
    keep({.what = what,
          .more = more,
          .name = text_of(call_in(BudgetPart::idle_system)),
          .range = std::move(range)});
  }

  void add_host(const IntervalSet& moments) {
    const std::int64_t more = more_of(moments);
    if (!is_telling(more)) return;
    keep({.what = SlowWhat::host,
          .more = more,
          .range = range_of(moments),
          .pause = longest_pause(moments & IntervalSet({own()}))});
  }

  void add_work() {
    const auto all = [](const auto&) { return true; };
    const IntervalSet kernels = (moments_of(trace::of_case(trace_.kernels.rows(), index_), all) |
                                 moments_of(trace::of_case(trace_.graphs, index_), all));
    if (const std::int64_t more = more_of(kernels); is_telling(more))
      keep(kernels_.cause(step_ - steps_.steady, more));
    const auto transfers = trace::of_case(trace_.transfers, index_);
    const IntervalSet copies = moments_of(transfers, all) - kernels;
    const std::int64_t more = more_of(copies);
    if (!is_telling(more)) return;
    const auto kind = most_of(lengths_by(transfers, copies, [](const trace::Transfer& one) {
                        return std::optional(one.kind);
                      })).value_or(trace::TransferKind::unknown);
    std::vector<double> bytes(steps_.steady_steps());
    for (const trace::Transfer& one : transfers) {
      const auto place = steps_.place_in_steady(one.time.end);
      if (one.kind == kind && place) bytes[*place] += static_cast<double>(one.bytes);
    }
    keep({.what = SlowWhat::copies,
          .more = more,
          .name = trace_.operation(kind),
          .range = {},
          .bytes = std::max(0.0, excess(bytes, step_, steps_))});
  }

  const trace::Trace& trace_;
  trace::CaseIndex index_;
  const Steps& steps_;
  StepKernels kernels_;
  RangeNesting nesting_;
  std::array<IntervalSet, budget_parts> idle_;
  std::set<std::int64_t> threads_;  ///< that call CUDA
  std::map<BudgetPart, Lengths<trace::NameIndex>> calls_in_;
  std::map<trace::NameIndex, std::vector<std::int64_t>> counts_;  ///< of calls that end in each step
  std::size_t step_ = 0;
  SlowStep* slow_ = nullptr;
};

}  // namespace

std::vector<SlowStep> slow_steps_of(const trace::Trace& trace, trace::CaseIndex index, const Steps& steps,
                                    const SharedTime& time, std::size_t most) {
  std::vector<SlowStep> slow;
  const auto usual = std::llround(steps.median_pace());
  for (const std::size_t step : steps.slow()) {
    const std::int64_t pace = steps.all[step].pace;
    if (slow.size() < most) slow.push_back({.step = step, .pace = pace, .more = pace - usual});
  }
  if (slow.empty()) return slow;
  SlowStepCauses causes(trace, index, steps, time);
  for (SlowStep& one : slow) causes.add(one);
  return slow;
}

}  // namespace mprof
