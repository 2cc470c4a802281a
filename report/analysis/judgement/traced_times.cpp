// SPDX-License-Identifier: MIT
#include "report/analysis/judgement/traced_times.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "model/derive/derive.hpp"
#include "model/statistics/median.hpp"
#include "report/analysis/judgement/compare.hpp"

namespace mprof {
namespace {

constexpr std::string_view gpu_time = "gpu_time", launch_time = "launch_time", kernel_time = "kernel_time",
                           counted_time = "gpu__time_duration.sum";

/// Of an op; and of a kernel those of `launch_time`'s.
constexpr std::array traced_counts{
    std::string_view("kernel_count"),     std::string_view("launch_count"),
    std::string_view("kernel_instances"), std::string_view("copy_in_bytes"),
    std::string_view("copy_in_time"),     std::string_view("copy_out_bytes"),
    std::string_view("copy_out_time"),    std::string_view("copy_device_bytes"),
    std::string_view("copy_device_time"), std::string_view("memset_bytes"),
    std::string_view("api_call_count"),   std::string_view("synchronization_time")};

/// Metric, op and kernel.
using TracedKey = std::tuple<std::string_view, std::string_view, std::string_view>;

using TracedRows = std::map<TracedKey, const Measurement*>;

/// Those that have a value.
TracedRows rows_of(const Case& c) {
  TracedRows rows;
  for (const PassResult& pass : c.passes) {
    for (const Measurement& m : pass.measurements) {
      if (!m.samples.empty()) rows.emplace(TracedKey(m.metric, m.op, m.kernel), &m);
    }
  }
  return rows;
}

/// As one process that was measured once: what is assumed between two of them, and what its own samples say.
/// The degrees of freedom of the sum are Satterthwaite's.
Value as_one_execution(const Measurement& row) {
  constexpr double assumed_dof = 4;  // as everywhere: no better known than from five processes
  constexpr double assumed = assumed_between_profiles * assumed_between_profiles;
  Measurement once = row;
  once.rounds.clear();
  once.derived.own().clock = ClockSource::device;
  const double own = variance_of_median(once.samples), sum = assumed + own;
  const double own_part = own > 0 ? own * own / static_cast<double>(once.samples.size() - 1) : 0;
  once.derived.own().between = {sum, sum * sum / (assumed * assumed / assumed_dof + own_part)};
  return value_of(once);
}

TimeComparison traced_time(const Measurement& a, const Measurement& b) {
  return {.metric = a.metric,
          .op = a.op,
          .a = as_one_execution(a),
          .b = as_one_execution(b),
          .ratio = {},
          .speed_up = {},
          .kernel = a.kernel};
}

/// Which part of its op's kernel time each kernel takes, by op and kernel.
using Shares = std::map<std::pair<std::string_view, std::string_view>, double>;

Shares shares_of(const TracedRows& rows) {
  std::map<std::string_view, double> of_op;
  Shares shares;
  for (const auto& [key, row] : rows) {
    const auto& [metric, op, kernel] = key;
    if (metric != kernel_time) continue;
    of_op[op] += row->samples.front();
    shares.emplace(std::pair(op, kernel), row->samples.front());
  }
  for (auto& [place, time] : shares) time /= of_op.at(place.first);
  return shares;
}

/// Whether a change of the kernel shows in its op: of hundreds of short ones each would make it harder to be
/// sure of the others.
bool counts_in(const Shares& shares, const Measurement& of_kernel) {
  constexpr double least = 0.005;
  const auto share = shares.find({of_kernel.op, of_kernel.kernel});
  return share == shares.end() || share->second >= least;
}

bool has_op(const Case& c, const std::string& op) {
  return std::ranges::find(c.ops, op, &OpInfo::name) != c.ops.end();
}

bool is_figure(const Measurement& m, Pass pass) {
  return pass == Pass::counters || std::ranges::find(traced_counts, m.metric.text()) != traced_counts.end();
}

}  // namespace

bool TracedFigure::differs() const {
  constexpr double noticeable = 0.01;
  return std::abs(a - b) > noticeable * std::max(std::abs(a), std::abs(b));
}

bool are_compared_by_traces(const Case& a, const Case& b) {
  return find_pass(a, Pass::timing) == nullptr || find_pass(b, Pass::timing) == nullptr;
}

std::vector<TimeComparison> traced_times(const Case& a, const Case& b) {
  constexpr std::array metrics{gpu_time, launch_time, counted_time};
  std::map<std::string_view, std::size_t> ops;  // their places
  for (const OpInfo& op : a.ops) {
    if (has_op(b, op.name)) ops.emplace(op.name, ops.size());
  }
  const TracedRows in_b = rows_of(b);
  const Shares before = shares_of(rows_of(a)), after = shares_of(in_b);
  using Place = std::pair<std::size_t, std::ptrdiff_t>;  // of the op, of the metric
  std::vector<std::pair<Place, TimeComparison>> placed;
  for (const PassResult& pass : a.passes) {
    for (const Measurement& m : pass.measurements) {
      const auto op = ops.find(m.op);
      const auto* const metric = std::ranges::find(metrics, m.metric.text());
      const auto other = in_b.find({m.metric, m.op, m.kernel});
      if (op == ops.end() || metric == metrics.end() || m.samples.empty() || other == in_b.end()) continue;
      // What was counted of a kernel that was traced, too, is a figure beside it.
      if (*metric == counted_time && in_b.contains({launch_time, m.op, m.kernel})) continue;
      if (!m.kernel.empty() && !counts_in(before, m) && !counts_in(after, m)) continue;
      placed.emplace_back(Place(op->second, metric - metrics.begin()), traced_time(m, *other->second));
    }
  }
  std::ranges::stable_sort(placed, {}, [](const auto& one) { return one.first; });
  std::vector<TimeComparison> times;
  for (auto& [place, time] : placed) times.push_back(std::move(time));
  return times;
}

std::vector<TracedFigure> traced_figures(const Case& a, const Case& b) {
  const TracedRows in_b = rows_of(b);
  std::vector<TracedFigure> figures;
  for (const PassResult& pass : a.passes) {
    for (const Measurement& m : pass.measurements) {
      const auto other = in_b.find(TracedKey(m.metric, m.op, m.kernel));
      if (!is_figure(m, pass.pass) || m.samples.empty() || other == in_b.end()) continue;
      figures.push_back({m.metric, m.op, m.kernel, median(m.samples), median(other->second->samples)});
    }
  }
  return figures;
}

bool is_traced(const TimeComparison& time) {
  return time.metric == gpu_time || time.metric == launch_time || time.metric == counted_time;
}

}  // namespace mprof
