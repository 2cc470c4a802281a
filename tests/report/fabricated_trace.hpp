// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "report/trace/timeline.hpp"

namespace mprof::test {

/// Writes a trace of some cases by hand, as a timeline reads it.
struct FabricatedTrace {
  trace::Trace trace{};

  trace::CaseIndex add_case(const std::string& id) {
    trace.cases.push_back({.id = id});
    return static_cast<trace::CaseIndex>(trace.cases.size() - 1);
  }
  void kernel(std::uint32_t stream, trace::Interval time, trace::CaseIndex in_case = 0,
              const std::string& text = "scale") {
    trace.kernels.push_back(
        {.time = time, .name = trace.names.index(text), .in_case = in_case, .queue = {0, 1, stream}});
  }
  void transfer(std::uint32_t stream, trace::Interval time, trace::TransferKind kind,
                std::uint64_t bytes = 1000, trace::CaseIndex in_case = 0) {
    trace.transfers.push_back({.time = time,
                               .bytes = bytes,
                               .in_case = in_case,
                               .queue = {0, 1, stream},
                               .kind = kind,
                               .source = trace::MemoryKind::pageable,
                               .destination = trace::MemoryKind::device});
  }
  void call(const std::string& text, trace::Interval time, trace::Api api = trace::Api::runtime,
            std::int64_t thread = 1) {
    trace.calls.push_back({.time = time, .thread = thread, .name = trace.names.index(text), .api = api});
  }
  void system_call(const std::string& text, trace::Interval time, std::int64_t thread = 1) {
    trace.system_calls.push_back({.time = time, .thread = thread, .name = trace.names.index(text)});
  }
  void range(const std::string& domain, const std::string& text, trace::Interval time,
             std::int64_t thread = 1) {
    trace.ranges.push_back({.time = time,
                            .thread = thread,
                            .end_thread = thread,
                            .name = trace.names.index(domain + ":" + text),
                            .domain = trace.names.index(domain)});
  }
  [[nodiscard]] Timeline timeline(const TimelineLimits& limits = {}) const {
    const trace::CaseIndex first = 0;
    return timelines(trace, {&first, 1}, limits).at(0);
  }
};

inline constexpr auto to_device = trace::TransferKind::host_to_device;
inline constexpr auto to_host = trace::TransferKind::device_to_host;
inline constexpr auto memory_set = trace::TransferKind::set;

}  // namespace mprof::test
