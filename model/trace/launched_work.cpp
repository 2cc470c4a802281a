// SPDX-License-Identifier: MIT
#include "model/trace/launched_work.hpp"

#include "model/trace/nsys_schema.hpp"

namespace mprof::trace {

LaunchedWorks::LaunchedWorks(const Trace& trace, CaseIndex index)
    : trace_(trace), index_(index), calls_(of_case(trace.calls, index)) {
  for (std::uint32_t i = 0; i < calls_.size(); ++i) {
    const Call& call = calls_[i];
    if (call.correlation == 0) continue;  // of no call in particular
    std::uint32_t& place = places_(nsys::process_of(call.thread), call.correlation);
    if (place == 0 || call.time.start < calls_[place - 1].time.start) place = i + 1;
  }
}

LaunchedWork LaunchedWorks::work(LaunchedWork::What what, std::size_t row, const Interval& time,
                                 std::int64_t process, std::int64_t correlation) {
  LaunchedWork work{
      .time = time, .call = {time.start, time.start}, .what = what, .row = static_cast<std::uint32_t>(row)};
  const std::uint32_t place = places_.find(process, correlation);
  if (place != 0) {
    work.call = calls_[place - 1].time;
    work.thread = calls_[place - 1].thread;
  }
  return work;
}

}  // namespace mprof::trace
