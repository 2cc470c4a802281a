// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include <cupti_activity.h>

#include "model/trace/attribution.hpp"

namespace mprof {

/// The name of an API call, by CUPTI's number for it.
using ApiName = std::function<std::string(trace::Api api, std::uint32_t id)>;

/// Turns CUPTI's activity records into a trace. Records come in any order, from any thread's buffers: what
/// belongs together is matched in take(), when all are there.
class CuptiRecords {
 public:
  /// Of a process, by the operating system's id.
  explicit CuptiRecords(std::uint32_t process);

  /// Copies what is needed, names included: the record's buffer, and the module that a kernel's name lies in,
  /// may go at once. Frees what the record owns. Unknown kinds are ignored.
  void add(CUpti_Activity& record);

  /// Forgets everything so far but the contexts that there are.
  void clear() { *this = successor(); }
  /// Empty but for these.
  [[nodiscard]] CuptiRecords successor() const {
    CuptiRecords next(process_);
    next.contexts_ = contexts_;
    return next;
  }

  /// The trace of what happened in `window`, as one case that has no id yet and is not attributed. The
  /// records are forgotten. Records without a time or with a reversed one are counted and left out.
  [[nodiscard]] trace::Recording take(trace::Interval window, const ApiName& api_name);

 private:
  /// One end of an NVTX range, or a mark.
  struct Marker {
    std::uint32_t id = 0;
    std::int64_t time = 0;
    std::uint32_t thread = 0;
    std::string name;
    std::string domain;
  };

  void add_kernel(const CUpti_ActivityKernel10& record);
  void add_copy(const CUpti_ActivityMemcpy6& record);
  void add_peer_copy(const CUpti_ActivityMemcpyPtoP4& record);
  void add_set(const CUpti_ActivityMemset4& record);
  void add_call(const CUpti_ActivityAPI& record);
  void add_marker(const CUpti_ActivityMarker2& record);
  void add_synchronization(const CUpti_ActivitySynchronization2& record);
  void add_overhead(CUpti_ActivityOverhead3& record);
  void add_allocation(const CUpti_ActivityMemory4& record);
  void add_context(const CUpti_ActivityContext3& record);

  /// Counts a bad time; false for one.
  bool is_usable(const trace::Interval& time);
  [[nodiscard]] std::int64_t thread(std::uint32_t id) const;
  void choose_copies_correlations();
  void match_markers(trace::Interval window);
  void name_calls(const ApiName& api_name);

  /// The texts of a kernel's symbol.
  struct Symbol {
    trace::NameIndex name = 0;
    trace::NameIndex short_name = 0;
    trace::NameIndex mangled = 0;
  };
  const Symbol& symbol(const char* mangled);
  trace::Range range(const Marker& marker, trace::Interval time, trace::RangeStyle style);

  [[nodiscard]] trace::Counts& counts() { return recording_.trace.cases[0].counts; }

  std::uint32_t process_;
  std::vector<trace::ContextInfo> contexts_;
  trace::Recording recording_;
  std::unordered_map<std::string, Symbol> symbols_;
  std::vector<std::uint32_t> call_ids_;              // beside the calls
  std::vector<std::uint32_t> runtime_correlations_;  // beside the transfers; 0: none
  std::vector<Marker> starts_;
  std::unordered_map<std::uint32_t, Marker> ends_;  // by id
};

}  // namespace mprof
