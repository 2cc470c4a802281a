#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include <cupti_activity.h>

#include "model/trace/trace.hpp"

namespace mprof {

/// The name of an API call, by CUPTI's number for it.
using ApiName = std::function<std::string(trace::Api api, std::uint32_t id)>;

/// Turns CUPTI's activity records into a trace. Records come in any order, from any thread's buffers: what
/// belongs together is matched in take(), when all are there.
class CuptiRecords {
 public:
  /// Copies what is needed, names included: the record's buffer, and the module that a kernel's name lies in,
  /// may go at once. Frees what the record owns. Unknown kinds are ignored.
  void add(CUpti_Activity& record);

  /// Forgets everything so far.
  void clear() { *this = {}; }

  /// The trace of what happened in `window`, not attributed yet, and forgets it. Records without a time or
  /// with a reversed one are counted and left out.
  [[nodiscard]] trace::Trace take(trace::Interval window, const ApiName& api_name);

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

  /// Counts a bad time; false for one.
  bool is_usable(const trace::Interval& time);
  std::uint32_t symbol(const char* mangled);
  void choose_copies_correlations();
  void match_markers(trace::Interval window);

  trace::Trace trace_;
  std::unordered_map<std::string, std::uint32_t> symbols_;  // mangled -> index into trace_.symbols
  std::vector<std::uint32_t> call_ids_;                     // beside trace_.calls
  std::vector<std::uint32_t> runtime_correlations_;         // beside trace_.copies; 0: none
  std::vector<Marker> starts_;
  std::unordered_map<std::uint32_t, Marker> ends_;  // by id
};

}  // namespace mprof
