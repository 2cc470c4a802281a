// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/trace/steps.hpp"
#include "report/analysis/analysis.hpp"
#include "report/analysis/evidence.hpp"
#include "report/analysis/program/kernel_kinds.hpp"
#include "report/analysis/program/launch_lines.hpp"
#include "report/analysis/program/memory_use.hpp"
#include "report/analysis/program/slow_steps.hpp"
#include "report/analysis/standing/time_budget.hpp"

/// What the owner of a program asks first: how long a step takes, where it goes, what bounds it, and which
/// kernels matter.
namespace mprof {

struct KindTime {
  KernelKind kind = KernelKind::other;
  std::int64_t time = 0;  ///< ns, of its kernels, one after the other
  std::uint64_t launches = 0;
};

/// Launches of one instance of a function, with one grid and block.
struct LaunchShape {
  std::string name;  ///< demangled, without its parameters
  std::optional<trace::Size> grid{};
  std::optional<trace::Size> block{};
  std::optional<std::uint32_t> registers{};  ///< of a thread
  std::int64_t time = 0;                     ///< ns, of its launches, one after the other
  std::uint64_t launches = 0;
};

/// The kernels of one function: instances of a template stand together.
struct FunctionTime {
  std::string name;  ///< the function's own, without template arguments
  KernelKind kind = KernelKind::other;
  std::int64_t time = 0;  ///< ns, of its launches, one after the other
  std::int64_t span = 0;  ///< ns of ProgramPicture::told in which at least one of them ran
  std::uint64_t launches = 0;
  std::size_t instances = 1;  ///< distinct template arguments
  /// The outermost ranges that launched it, with their ns, the longest first; empty of a program with one op.
  std::vector<std::pair<std::string, std::int64_t>> ranges{};
  std::vector<LaunchShape> shapes{};  ///< the longest first
  /// The lines at which its warps stood when they were sampled, of all instances; empty: it was not sampled.
  std::vector<SourceLine> sampled{};
  const KernelResult* counted =
      nullptr;  ///< its instance that was counted and took the longest; nullptr: none was
};

/// A kind of call in which the host waits for the GPU.
struct WaitTime {
  std::string call;
  std::int64_t idle = 0;  ///< ns in which the GPU had nothing to do meanwhile
  std::uint64_t count = 0;
  std::string range{};  ///< the innermost one that holds most of them; empty: none does
};

/// The kernels of an op of the program: of a range, or of no range.
struct RangeTime {
  std::string name;
  std::int64_t time = 0;  ///< ns, of its kernels, one after the other
  std::uint64_t launches = 0;
};

enum class ProgramBound : std::uint8_t {
  kernels,        ///< the GPU computes nearly all the time
  copies,         ///< it copies, and does not compute meanwhile
  communication,  ///< kernels that exchange data between GPUs run, and nothing else
  launching,      ///< many short gaps between kernels: each waits for its launch
  host,           ///< the host's own code between calls
  waiting,        ///< the host waits for the GPU, and gives it nothing to do until it knows that it is done
  allocation,     ///< calls that allocate or free memory
  system,         ///< calls of the operating system: files, sleeping, locks
  tracing,        ///< nothing can be said: recording the trace took the time
};

struct ProgramPicture {
  const CaseResult* result = nullptr;
  trace::CaseIndex index = trace::no_case;  ///< in the trace
  std::optional<Steps> steps{};
  std::vector<SlowStep> slow{};            ///< the slowest ones, at most five of them
  TimeBudget budget{};                     ///< of the steady steps; without steps of all that was traced
  std::optional<TimeBudget> warming_up{};  ///< of the steps before the steady ones
  trace::Interval told{};                  ///< what it is of
  trace::Interval whole{};                 ///< of the program, from its start to its end
  std::int64_t first_call = 0;             ///< when it first called CUDA
  std::vector<KindTime> kinds{};           ///< in `told`, the longest first
  std::vector<FunctionTime> functions{};   ///< in `told`, the longest first
  std::vector<RangeTime> ranges{};         ///< the same; empty of a program with one op
  std::int64_t kernel_time = 0;            ///< ns, of all kernels in `told`, one after the other
  std::uint64_t launches = 0;              ///< of kernels, in `told`
  std::uint64_t of_graphs = 0;             ///< how many of these CUDA graphs launched
  std::vector<WaitTime> waits{};           ///< the longest first
  ProgramBound bound = ProgramBound::kernels;
  std::int64_t bounding = 0;  ///< ns of `told` that it takes
  /// The innermost NVTX ranges of the steps' thread in which more than half of that is. Empty:
  /// nowhere, or of several GPUs.
  std::string bounding_range{};
  double in_bounding_range = 0;  ///< the share of it
  /// Of a program with steps that get their input in an NVTX range of their thread: its name, and ns of
  /// `told` in it in which no GPU had anything to do.
  std::optional<std::pair<std::string, std::int64_t>> loader{};
  MemoryReading memory{};
  std::optional<LaunchLines> launched_from{};  ///< of `told`; nullopt: no launch has a stack
  /// How many times as fast it would be at most without what bounds it; of kernels nothing is said.
  std::optional<double> gain{};

  [[nodiscard]] double share_of_kernels(std::int64_t time) const;
  /// What warming up has more of than as many steady steps, where that is 15 % of it or more: in ns, the most
  /// first.
  [[nodiscard]] std::vector<std::pair<BudgetPart, double>> more_in_warming_up() const;
  /// The share of its time that a function would need if its busiest unit had no pause, by its counted
  /// launch; nullopt where it was not counted.
  [[nodiscard]] static std::optional<double> floor_of(const FunctionTime& function);
  /// The same of all kernels, where the counted ones take half of their time or more. The others stay as they
  /// are.
  [[nodiscard]] std::optional<double> floor_of_kernels() const;
};

/// What program_change() compares, of the trace alone: without `result`, counters, waits, places, slow steps,
/// and what functions have beside times and launches. nullopt where it has no kernel.
[[nodiscard]] std::optional<ProgramPicture> compared_picture(const trace::Trace& trace,
                                                             trace::CaseIndex index);

/// nullopt where the program was not traced, did not end as it should, or did nothing on a GPU. What the
/// trace says is read once.
[[nodiscard]] std::optional<ProgramPicture> picture_of(const FamilyResult& family, const CaseResult& result,
                                                       const Evidence& evidence);

/// The family of what stands behind `--`, and of files of other tools. A suite has another one: its programs
/// have numbers and outputs of their own.
inline constexpr std::string_view own_family = "program";

/// Whether there is nothing to compare: what stands behind `--`, one import, or a suite of one program at one
/// problem.
[[nodiscard]] bool is_of_one_program(const FamilyResult& family);

/// Of the largest problem that was traced of a program.
[[nodiscard]] std::optional<ProgramPicture> picture_of_variant(const FamilyResult& family,
                                                               const VariantResult& variant,
                                                               const Evidence& evidence);

/// Of the one program with a trace that stands for its family; nullopt where several are compared, as
/// variants are.
[[nodiscard]] std::optional<ProgramPicture> picture_of_family(const FamilyResult& family,
                                                              const Evidence& evidence);

}  // namespace mprof
