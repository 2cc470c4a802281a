// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/trace/op_name.hpp"
#include "model/trace/trace.hpp"

/// A program as a case: what was recorded of all its processes, with ops that mprof finds in it.
namespace mprof::trace {

/// So many ops have a name of their own.
inline constexpr std::size_t most_program_ops = 16;

/// The text of mprof's own ranges in which CUDA came up in a process: the driver, a context, and the first
/// call that needed it.
inline constexpr const char* cuda_start = "CUDA's start";

struct ProgramOptions {
  std::string case_id{};
  std::string ops{};                    ///< a glob of the ranges that are ops; empty: the outermost ones
  std::optional<Interval> life{};       ///< from when the program was started to its end, where that is known
  std::vector<Interval> cuda_starts{};  ///< in which CUDA came up in its processes
  std::optional<Interval> part{};       ///< to which the trace is limited; nullopt: it is of all
};

/// Whether a glob fits the name of any range.
[[nodiscard]] bool fits_any_range(const Trace& trace, const std::string& glob);

/// Whether its times cannot be, in an export.
[[nodiscard]] bool has_impossible_time(const Call& call);

/// Leaves out the records of an export whose times cannot be, as make_program_case() does. The others keep
/// their order.
void leave_out_impossible(Trace& trace);

/// Makes one case of a trace without cases, such as an export of Nsight Systems. All rows belong to it.
/// Correlation ids are unique over its processes. Each API call and what it led to have a place. Records
/// without a time, with a reversed one, or with one that its stream does not allow, are counted and left out.
/// Rows stand in an order that does not depend on the file's.
///
/// Ops are the outermost NVTX ranges of the default domain. Where that has no range, they are the outermost
/// ranges of all domains, since libraries have domains of their own. Ranges of one name are one op. Where
/// there are more than `most_program_ops` names, names that differ in numbers alone are one op ("step #"),
/// and of the rest the longest in time are kept.
///
/// The case lasts as long as the part to which the trace is limited. Without one it lasts as long as the
/// program where that is known, or else from the first work, call or range to the last. Ranges outside of the
/// part make no ops. Ops lie between that first and that last one.
///
/// A call belongs to the op whose range its thread has open. On a thread that never opens one, it belongs to
/// the range that was opened last in its process. What a call led to belongs where the call does.
///
/// Returns the ops in the order of their first starts; `whole_program` alone when no range qualifies. An
/// empty trace gives none.
[[nodiscard]] std::vector<std::string> make_program_case(Trace& trace, const ProgramOptions& options);

}  // namespace mprof::trace
