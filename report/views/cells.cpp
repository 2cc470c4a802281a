// SPDX-License-Identifier: MIT
#include "report/views/cells.hpp"

#include <fmt/format.h>

#include "model/metric.hpp"
#include "report/text/format.hpp"
#include "report/wording/kernels.hpp"
#include "report/wording/why.hpp"

namespace mprof {
namespace {

/// A baseline has nothing to be faster than: the word says so better than a dash with a footnote.
Cell speed_up_or_baseline(const CaseResult& result, const SpeedUp& speed_up) {
  return result.is_baseline ? Cell::words("baseline", Tone::quiet).valued(1) : Cell::speed_up(speed_up);
}

/// What the GPU itself did in that time.
std::string of_gpu_time(const OpResult& op) {
  return op.gpu_speed_up ? fmt::format("; of GPU time: {}", format::times(*op.gpu_speed_up.factor)) : "";
}

Cell no_such_op() {
  return Cell::missing("the case has no such op");
}

}  // namespace

void add_problem_columns(Table& table, const Words& words) {
  for (const AxisInfo& axis : words.axes()) table.numbers(axis.title);
}

void add_problem(std::vector<Cell>& cells, const Words& words, const Problem& problem) {
  for (const AxisInfo& axis : words.axes()) {
    const auto value = value_on(problem, axis.name);
    cells.push_back(value ? Cell::figure(std::to_string(*value)).valued(static_cast<double>(*value))
                          : Cell::missing("the problem has no such axis"));
  }
}

void add_time_columns(Table& table, const FamilyResult& family, std::string_view metric) {
  for (std::size_t i = 0; i < family.ops.size(); ++i)
    table.numbers(numbered(family.words.time_title(metric), i, family.ops.size()), Unit::second);
}

void add_quality_columns(Table& table, const FamilyResult& family) {
  for (const QualityInfo& quality : family.info.qualities) table.numbers(format::one_line(quality.label));
}

void add_qualities(std::vector<Cell>& cells, const CaseResult& result) {
  for (const QualityResult& quality : result.qualities)
    cells.push_back(judged(Cell::quality(quality.value, quality.info->unit), result));
}

std::string numbered(std::string_view head, std::size_t index, std::size_t ops) {
  return ops == 1 ? std::string(head) : fmt::format("{} {}", head, index + 1);
}

Cell judged(Cell cell, const CaseResult& result) {
  if (result.doubt().empty() || !cell.absent.empty()) return cell;
  cell.tone = Tone::bad;
  cell.note = say(result.doubt());
  return cell;
}

Cell op_time_cell(const FamilyResult& family, const CaseResult& result, const OpInfo& op,
                  Value OpResult::*time) {
  const OpResult* found = result.find_op(op.name);
  if (found == nullptr) return no_such_op();
  Cell cell = judged(Cell::value(found->*time), result);
  const bool says_little = found->flaw != OpTimeFlaw::none && time == &OpResult::op_time && cell.note.empty();
  if (says_little)
    cell.note = fmt::format("it {}, so it is compared by {}", say(why_of(found->flaw)),
                            family.words.time("group_time"));
  return cell;
}

Cell traced_time_cell(const OpResult& op) {
  Cell cell = Cell::bare(op.gpu_time);
  if (gpu_time_exceeds_op_time(op))
    cell.note =
        "above the op time: it is of one traced execution, while the op time is the median of untraced ones; "
        "tracing, clocks and what caches held differ";
  return cell;
}

Cell speed_up_cell(const FamilyResult& family, const CaseResult& result, const OpInfo& op) {
  const OpResult* found = result.find_op(op.name);
  if (found == nullptr) return no_such_op();
  Cell cell = speed_up_or_baseline(result, found->speed_up);
  const bool by_group = found->speed_up && found->compared_by == "group_time";
  if (by_group) {
    const std::string disturbed = cell.note.empty() ? "" : "; " + cell.note;
    cell.note = fmt::format("of {}{}{}", family.words.time("group_time"), of_gpu_time(*found), disturbed);
  }
  return cell;
}

/// Why an op can do more than is possible by the peak that is the nearest.
std::string_view beyond_peak_words(Limit limit, bool is_on_gpu) {
  if (limit == Limit::compute)
    return is_on_gpu ? "above the measured FP32 peak: it works on tensor cores"
                     : "above the measured peak: something slowed that measurement";
  if (limit == Limit::special)
    return "above the measured special-function peak: its algorithm needs fewer than the definition names";
  return "above the bandwidth that was measured by copying: caches hold some of its data, or it reads and "
         "writes in an order that suits DRAM better";
}

Cell of_possible_cell(const CaseResult& result, const OpInfo& op) {
  const OpResult* found = result.find_op(op.name);
  if (found == nullptr) return no_such_op();
  if (!found->of_possible) return Cell::missing(found->of_possible.absent);
  Cell cell = judged(
      Cell::figure(format::percent(found->of_possible->median / 100)).valued(found->of_possible->median),
      result);
  cell.modelled = true;
  if (found->limit == Limit::special) cell.note = "of the special-function peak";
  if (is_beyond_measured_peaks(*found) && cell.tone != Tone::bad)
    cell.note = beyond_peak_words(found->limit.value_or(Limit::memory), found->is_on_gpu);
  return cell;
}

Cell total_speed_up_cell(const CaseResult& result) {
  return speed_up_or_baseline(result, result.total_speed_up);
}

Tone tone_of(Verdict verdict) {
  if (verdict == Verdict::faster) return Tone::good;
  return verdict == Verdict::slower ? Tone::bad : Tone::quiet;
}

std::string why_without_times(const CaseResult& result) {
  const std::string reason = format::one_line(result.reason);
  return reason.empty() ? std::string(to_string(result.status))
                        : fmt::format("{}: {}", to_string(result.status), reason);
}

Cell percentage_cell(const Value& value) {
  return value ? Cell::figure(format::fixed(value->median, 1)).valued(value->median)
               : Cell::missing(value.absent);
}

void add_counted_columns(Table& table) {
  table.numbers("SM", Unit::percent).numbers("Memory", Unit::percent);
  table.numbers("Achieved occupancy", Unit::percent).text("Bottleneck");
}

void add_counted(std::vector<Cell>& cells, const KernelResult* counted) {
  for (const std::string_view metric : {"sm__throughput.avg.pct_of_peak_sustained_elapsed",
                                        "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
                                        "sm__warps_active.avg.pct_of_peak_sustained_active"})
    cells.push_back(counted == nullptr ? Cell::missing("it was not counted")
                                       : percentage_cell(counted->counters.value(metric)));
  cells.push_back(counted != nullptr && counted->bottleneck ? Cell::words(bound_text(*counted->bottleneck))
                                                            : Cell::dash());
}

Cell samples_cell(const CaseResult& result) {
  return result.sampling
             ? Cell::figure(format::count(result.sampling->samples)).valued(result.sampling->samples)
             : Cell::not_recorded();
}

std::string parameters_text(const CaseResult& result) {
  std::vector<std::string> words;
  for (const auto& [name, value] : result.key.parameters) words.push_back(name + "=" + value);
  return format::one_line(format::list(words));
}

}  // namespace mprof
