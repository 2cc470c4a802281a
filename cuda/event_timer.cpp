// SPDX-License-Identifier: MIT
#include "cuda/event_timer.hpp"

#include <vector>

#include "cuda/check.hpp"
#include "cuda/driver.hpp"
#include "model/statistics/median.hpp"

namespace mprof::cuda {

EventTimer::EventTimer() {
  constexpr int empty_ops = 31;
  hold_.begin();  // the first launch of a kernel loads it
  hold_.release();
  check(cudaDeviceSynchronize());
  const Driver& d = driver();
  d.check(d.current_context(&context_));
  d.check(d.create_event(&start_, CU_EVENT_DEFAULT));
  d.check(d.create_event(&all_, CU_EVENT_DISABLE_TIMING));
  d.check(d.create_event(&stop_, CU_EVENT_DEFAULT));
  std::vector<double> times;
  for (int i = 0; i < empty_ops; ++i) {
    start(true);
    stop();
    times.push_back(between_events());
  }
  overhead_ = median(times);
}

EventTimer::~EventTimer() {
  hold_.release();
  for (const CUevent event : {start_, all_, stop_}) driver().destroy_event(event);
}

void EventTimer::start(bool hold) {
  const Driver& d = driver();
  is_holding_ = hold;
  if (hold) hold_.begin();
  d.check(d.record_event(start_, nullptr));
  d.check(d.wait_in_context(context_, start_));
}

void EventTimer::stop() {
  const Driver& d = driver();
  d.check(d.record_context(context_, all_));
  d.check(d.wait_in_stream(nullptr, all_, CU_EVENT_WAIT_DEFAULT));
  d.check(d.record_event(stop_, nullptr));
  if (is_holding_) hold_.release();
}

double EventTimer::seconds() {
  constexpr double resolution = 1e-9;  // far below that of an event: nothing but rounding is left
  const double seconds = between_events() - overhead_;
  return seconds < resolution ? 0 : seconds;
}

double EventTimer::between_events() const {
  const Driver& d = driver();
  float milliseconds = 0;
  d.check(d.synchronize_event(stop_));
  d.check(d.elapsed_time(&milliseconds, start_, stop_));
  return static_cast<double>(milliseconds) * 1e-3;
}

}  // namespace mprof::cuda
