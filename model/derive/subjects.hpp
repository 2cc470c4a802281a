// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/run.hpp"
#include "model/trace/trace.hpp"

/// The parts of derive(), each in its own file.
namespace mprof {

/// Achieved rates of a case's ops and their share of the measured peaks, modelled. They come from the FLOPs,
/// bytes and special-function operations that an op's definition needs, not from what the hardware counted.
/// The special-function peak is compared with the operations that the variant's algorithm needs. Ops without
/// a row of op_time get nothing.
[[nodiscard]] std::vector<Measurement> modelled_speed_of_light(const Case& subject,
                                                               const VariantInfo& variant,
                                                               std::span<const Ceiling> ceilings);

/// A kernel of an op in a trace, which outlives it.
struct OpKernel {
  std::string name{};                     ///< as its measurements have it
  std::int64_t time = 0;                  ///< ns, of all its launches
  std::vector<std::uint32_t> launches{};  ///< places in Trace::kernels, by their starts
};

/// In the order of their first starts.
[[nodiscard]] std::vector<OpKernel> kernels_of_op(const trace::Trace& trace, trace::CaseIndex index,
                                                  std::string_view op);

/// So many kernels of an op get rows of their own, the ones that took the longest: a record stays readable.
constexpr std::size_t kernels_with_rows = 8;

/// So many of a program and of an imported profile: two of them are compared by what both have rows of, and a
/// kernel that became fast must still have one.
constexpr std::size_t kernels_of_program = 1000;

/// What the trace says of a case: the rows "from the trace" of the metric catalogue, one sample each. Per op:
/// GPU time, copies, calls, overlap, and what the GPU did while the op's stages ran. Per kernel of an op: its
/// time, of the `most_kernels` longest ones. Of the case: the records that are missing.
[[nodiscard]] std::vector<Measurement> trace_metrics(const trace::Trace& trace, trace::CaseIndex index,
                                                     std::span<const OpInfo> ops,
                                                     std::size_t most_kernels = kernels_with_rows);

/// How long the launches of the op's `kernels_of_program` longest kernels ran in a trace: rows of
/// `launch_time`.
[[nodiscard]] std::vector<Measurement> launch_times(const trace::Trace& trace, trace::CaseIndex index,
                                                    std::span<const OpInfo> ops);

/// How long each steady step of a program took in a trace, and in which share of them a kernel ran: rows of
/// `step_time` and `step_gpu_share`; nothing where it has none.
[[nodiscard]] std::vector<Measurement> step_times(const trace::Trace& trace, trace::CaseIndex index);

/// What the samples of a time show in the order in which they were taken, each round by itself: steps
/// (Pettitt's test), neighbours that are alike, samples beyond Tukey's outer fences. Only what exceeds 1 % of
/// the time by a GPU's clock, 3 % by the host's.
[[nodiscard]] SeriesNotes series_notes(const Measurement& time);

/// Why an op time of the case cannot be the time of that op's work; empty: nothing speaks against it. The
/// evidence is what its passes say of each other, what the op needs by its definition and the variant's
/// declaration, and what the device can do at best. Only for records whose timed executions were inspected
/// (PassResult::scrutiny): in earlier records valid variants worked outside forward().
[[nodiscard]] std::string contradiction(const Case& subject, const VariantInfo& variant);

/// Marks the op times that must hold the op's copies (DerivedTime::holds_copies). The op's inputs lie in the
/// host's memory before forward(), and its outputs lie there after finish(). An op time is marked where group
/// time minus op time is too short to copy the larger of the two, even over a link twice as fast as measured.
///
/// It is not marked where such a copy would take more than the whole op time. Where the copy would take less
/// than a twentieth of the op time, it is marked only if the variant copies so with other parameters. What
/// one problem shows holds for the variant with these parameters at all problems: copies of little take too
/// short to show.
void derive_copies(Run& run);

/// The case's group time in its trace, which `traced` has, over that in its timing pass.
[[nodiscard]] Measurement trace_overhead(const Case& subject, std::span<const Measurement> traced);

}  // namespace mprof
