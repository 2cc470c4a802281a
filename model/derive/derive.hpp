// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "model/run.hpp"
#include "model/trace/reader.hpp"

namespace mprof {

/// What is assumed of GPU times in two executions that nothing held alike: their standard deviation.
inline constexpr double assumed_between_profiles = 0.05;

/// Adds to a run that was read what follows from what was stored: the modelled Speed-of-Light, and all that
/// trace.sqlite says of the cases whose trace pass is ok. So it can be corrected for runs that were recorded
/// long ago, and is the same for all.
///
/// Op times that must hold copies are marked (DerivedTime::holds_copies).
///
/// A derived row takes the place of a stored one of the same case, metric, op and kernel. A stored value
/// stays where none can be derived, as in a run of the first schema version whose trace is gone. Counters of
/// a kernel whose duration the hardware did not give are taken away. A case whose passes contradict each
/// other becomes suspect.
///
/// Throws Error(usage) that names the trace when the file is no trace or is damaged. Without it variants
/// would be compared by other times than with it, and nobody would know.
void derive(Run& run, const std::filesystem::path& directory);

/// The same, and the trace that it read, with these parts of it and without pauses. nullopt: it read none.
[[nodiscard]] std::optional<trace::Trace> derive_and_keep_trace(Run& run,
                                                                const std::filesystem::path& directory,
                                                                const trace::Parts& parts);

/// The part of derive() that needs no trace:
/// - by what clock each time of the timing passes, and each step time, was taken,
/// - how much it varies from one process to the next (DerivedTime::between),
/// - what disturbed it, and what its samples show in the order in which they were taken.
///
/// The variation comes from the medians of the time's rounds, moderated by what all times of that clock say
/// together. For a run of one round it is assumed.
void derive_variation(Run& run);

/// Whether the work of an op was held back until all of it was queued, as far as a timing pass tells; else
/// the host has a part in its times, whichever clock took them.
[[nodiscard]] bool was_held(const PassResult& timing, std::string_view op);

}  // namespace mprof
