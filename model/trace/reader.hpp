// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/trace/trace.hpp"

/// Reads a trace from mprof's trace.sqlite or from an export of Nsight Systems, of whatever version: a table
/// or a column that is missing there is missing in the trace.
namespace mprof::trace {

/// What to read: the rest of a Trace stays empty.
struct Parts {
  bool kernels = false;
  bool kernel_details = false;  ///< also their registers, memory and clusters, and more of that kind
  bool transfers = false;
  bool calls = false;
  bool system_calls = false;
  bool ranges = false;
  bool synchronizations = false;
  bool overheads = false;
  bool allocations = false;
  bool tallies = false;  ///< of an export: sums over its other tables (tallies.hpp)
  bool graph_nodes = false;
  bool gpu_samples = false;
  bool stacks = false;  ///< of calls and of graph nodes

  Parts& operator|=(const Parts& other);
  bool operator==(const Parts&) const = default;
  /// Whether all of these are among them.
  [[nodiscard]] bool include(const Parts& others) const { return (Parts(*this) |= others) == *this; }
};
/// The parts that tables, timelines and exports show.
inline constexpr Parts shown_parts{
    .kernels = true, .kernel_details = true, .transfers = true, .calls = true, .ranges = true};

inline constexpr Parts every_part{.kernels = true,
                                  .kernel_details = true,
                                  .transfers = true,
                                  .calls = true,
                                  .system_calls = true,
                                  .ranges = true,
                                  .synchronizations = true,
                                  .overheads = true,
                                  .allocations = true,
                                  .tallies = true,
                                  .graph_nodes = true,
                                  .gpu_samples = true,
                                  .stacks = true};

struct Query {
  Parts parts = shown_parts;
  std::vector<std::string> cases{};  ///< empty: everything in the file
  /// Also what mprof itself does between two ops to make them comparable, such as flushing the caches. It is
  /// no work of any variant.
  bool with_pauses = false;
};

/// Throws Error(usage) when the file is no trace, or has no case of that name.
[[nodiscard]] Trace read_trace(const std::filesystem::path& file, const Query& query = {});

/// Makes of a trace that was read with pauses what it is without them.
void leave_out_pauses(Trace& trace);

/// A file that parts are read of, one after the other: what all of them need is read once.
class TraceFile {
 public:
  /// Throws Error(usage) like read_trace(). The parts of the query are not looked at.
  TraceFile(const std::filesystem::path& file, Query query);
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;
  ~TraceFile();
  [[nodiscard]] Trace read(const Parts& parts);
  /// Calls visit(trace, call) for each call of CUDA, and keeps none: there may be millions. The trace has
  /// what calls refer to.
  [[nodiscard]] Trace read_calls(const std::function<void(const Trace&, const Call&)>& visit);

 private:
  struct Opened;
  std::unique_ptr<Opened> opened_;
};

/// Throws Error(usage): a file of a profiler has nothing that it traced.
[[noreturn]] void refuse_untraced(const std::filesystem::path& file);

/// The ids of the cases in a file, in its order; none in an export of Nsight Systems. Throws like
/// read_trace().
[[nodiscard]] std::vector<std::string> traced_cases(const std::filesystem::path& file);

}  // namespace mprof::trace
