#pragma once

#include <filesystem>

#include "model/run.hpp"

namespace mprof {

/// Adds what follows from the stored measurements, or replaces it.
void derive(Run& run, const std::filesystem::path& directory);

}  // namespace mprof
