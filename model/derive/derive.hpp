#pragma once

#include <filesystem>

#include "model/run.hpp"

namespace mprof {

/// Adds to a run that was read what follows from what was stored: the modelled Speed-of-Light, and all that
/// trace.sqlite says of the cases whose trace pass is ok. So it can be corrected for runs that were recorded
/// long ago, and is the same for all.
///
/// A derived row takes the place of a stored one of the same case, metric, op and kernel. A stored value
/// stays where none can be derived, as in a run of the first schema version whose trace is gone.
///
/// Throws Error(usage) that names the trace when it is there and is none, or is damaged: without it variants
/// would be compared by other times than with it, and nobody would know.
void derive(Run& run, const std::filesystem::path& directory);

}  // namespace mprof
