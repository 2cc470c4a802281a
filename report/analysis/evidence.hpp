// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/run.hpp"
#include "model/trace/reader.hpp"
#include "report/analysis/analysis.hpp"
#include "report/trace/profile_tables.hpp"

/// What the trace of a run shows, and why it has no trace.
namespace mprof {

struct KnownBudgets;   // of standing/time_budget.cpp
struct KnownPictures;  // of program/picture.cpp

struct Evidence {
  std::optional<trace::Trace> profile;
  std::string absent;  ///< the reason, without a profile
  /// Budgets that budget_of() was asked for: each takes a look at all rows of its case.
  mutable std::shared_ptr<KnownBudgets> budgets{};
  mutable std::shared_ptr<KnownPictures> pictures{};  ///< what program/picture.cpp read of programs
};

/// What an Evidence has of a trace.
inline constexpr trace::Parts evidence_parts{.kernels = true,
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

/// Reads the trace when the file is there. Throws Error when it is there and cannot be read.
[[nodiscard]] Evidence read_evidence(const Run& run, const std::filesystem::path& trace);

/// The same of a trace that was read, without pauses.
[[nodiscard]] Evidence evidence_of(trace::Trace trace);

/// Why a run has no trace, as a sentence without its full stop.
[[nodiscard]] std::string why_not_traced(const Run& run);

/// The places of a trace's cases, by their ids.
using TracedCases = std::unordered_map<std::string_view, trace::CaseIndex>;

/// A case of the run with its place in the trace.
struct TracedCase {
  const CaseResult* result = nullptr;
  trace::CaseIndex index = trace::no_case;
};

/// The case that stands for a variant at the largest problem at which it was traced.
[[nodiscard]] std::optional<TracedCase> largest_traced(const VariantResult& variant,
                                                       const TracedCases& traced);

/// What sets kernels and API calls apart, in numbers. Times in ns.
struct KernelsAndCalls {
  std::optional<Spread> kernels;             ///< on the GPU
  std::optional<Spread> calls;               ///< on the CPU: all API calls
  std::optional<Spread> launching;           ///< those among them that launched kernels
  std::vector<std::string> launchers;        ///< their names, in alphabetical order
  std::string longest;                       ///< the API call that took the most time in all
  double longest_share = 0;                  ///< of all API calls' time
  std::optional<std::int64_t> transferring;  ///< in copies and memsets, on the GPU
};

[[nodiscard]] KernelsAndCalls kernels_and_calls(const trace::Trace& profile, const ProfileScope& scope);

}  // namespace mprof
