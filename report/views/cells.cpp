#include "report/views/cells.hpp"

#include <fmt/format.h>

#include "model/metric.hpp"
#include "report/text/format.hpp"

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

Cell batch_cell(std::uint64_t batch) {
  return Cell::figure(std::to_string(batch)).valued(static_cast<double>(batch));
}

std::string numbered(std::string_view head, std::size_t index, std::size_t ops) {
  return ops == 1 ? std::string(head) : fmt::format("{} {}", head, index + 1);
}

std::string_view label_of(std::string_view metric) {
  const Metric* row = find_metric(metric);
  return row == nullptr ? metric : row->label;
}

Cell judged(Cell cell, const CaseResult& result) {
  if (result.status != Status::wrong || !cell.absent.empty()) return cell;
  cell.tone = Tone::bad;
  cell.note = "the output is wrong";
  return cell;
}

Cell op_time_cell(const CaseResult& result, const OpInfo& op, Value OpResult::*time) {
  const OpResult* found = result.find_op(op.name);
  if (found == nullptr) return no_such_op();
  Cell cell = judged(Cell::value(found->*time), result);
  const bool says_little = found->outside_forward && time == &OpResult::op_time && cell.note.empty();
  if (says_little) cell.note = "it works outside forward(), so it is compared by layer time";
  return cell;
}

Cell speed_up_cell(const CaseResult& result, const OpInfo& op) {
  const OpResult* found = result.find_op(op.name);
  if (found == nullptr) return no_such_op();
  Cell cell = speed_up_or_baseline(result, found->speed_up);
  const bool by_layer = found->speed_up && found->compared_by == "layer_time";
  if (by_layer) cell.note = "of layer time" + of_gpu_time(*found);
  return cell;
}

Cell of_possible_cell(const CaseResult& result, const OpInfo& op) {
  const OpResult* found = result.find_op(op.name);
  if (found == nullptr) return no_such_op();
  if (!found->of_possible) return Cell::missing(found->of_possible.absent);
  Cell cell = judged(
      Cell::figure(format::percent(found->of_possible->median / 100)).valued(found->of_possible->median),
      result);
  cell.modelled = true;
  if (found->of_possible->median > 100 && cell.note.empty())
    cell.note = "above the measured peaks: it works on tensor cores, or on data that caches hold";
  return cell;
}

Cell total_speed_up_cell(const CaseResult& result) {
  return speed_up_or_baseline(result, result.total_speed_up);
}

std::string why_without_times(const CaseResult& result) {
  const std::string reason = format::one_line(result.reason);
  return reason.empty() ? std::string(to_string(result.status))
                        : fmt::format("{}: {}", to_string(result.status), reason);
}

}  // namespace mprof
