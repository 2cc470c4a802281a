// SPDX-License-Identifier: MIT
#include "model/trace/open_ops.hpp"

#include <algorithm>
#include <iterator>

#include "model/trace/nsys_schema.hpp"
#include "model/trace/op_name.hpp"

namespace mprof::trace {

OpenOps::OpenOps(const std::vector<OpTime>& times) {
  if (times.size() == 1 && times.front().op == whole_program) whole_ = &times.front();
  for (const OpTime& one : times) by_thread_[one.thread].push_back(&one);
  for (auto& [thread, ops] : by_thread_) {
    std::ranges::stable_sort(ops, {}, [](const OpTime* one) { return one->time.start; });
    threads_[nsys::process_of(thread)].push_back(thread);
  }
}

const OpTime* OpenOps::at(std::int64_t thread, std::int64_t time) const {
  if (whole_ != nullptr) return whole_;
  // What lies outside of all ranges is the process's own, and says nothing of its threads.
  const bool is_process = nsys::native_thread(thread) == 0;
  if (!is_process && by_thread_.contains(thread)) return on(thread, time);
  const auto others = threads_.find(nsys::process_of(thread));
  if (others == threads_.end()) return nullptr;
  const OpTime* last = nullptr;
  for (const std::int64_t other : others->second) {
    const OpTime* const open = on(other, time);
    if (open != nullptr && (last == nullptr || open->time.start > last->time.start)) last = open;
  }
  return last;
}

const OpTime* OpenOps::at(std::int64_t time) const {
  if (whole_ != nullptr) return whole_;
  const OpTime* last = nullptr;
  for (const auto& [thread, ops] : by_thread_) {
    const OpTime* const open = on(thread, time);
    if (open != nullptr && (last == nullptr || open->time.start > last->time.start)) last = open;
  }
  return last;
}

const OpTime* OpenOps::on(std::int64_t thread, std::int64_t time) const {
  const std::vector<const OpTime*>& ops = by_thread_.at(thread);
  const auto next =
      std::ranges::upper_bound(ops, time, {}, [](const OpTime* one) { return one->time.start; });
  if (next == ops.begin()) return nullptr;
  const OpTime* const before = *std::prev(next);
  return time <= before->time.end ? before : nullptr;
}

std::vector<OpTime> op_times_of(const Trace& trace, CaseIndex in_case) {
  std::vector<OpTime> times;
  for (const Range& range : of_case(trace.ranges, in_case)) {
    const std::string& op = trace.places[range.place].op;
    if (range.style == RangeStyle::extent && !op.empty()) times.push_back({range.time, range.thread, op});
  }
  return times;
}

}  // namespace mprof::trace
