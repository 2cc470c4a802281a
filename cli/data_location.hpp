#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "model/data_paths.hpp"

namespace mprof::cli {

/// The directory of the running program.
[[nodiscard]] std::filesystem::path program_directory();

/// Where images and weights are: what the option names; else what MPROF_DATA or MPROF_WEIGHTS name; else the
/// first of the usual places that has them; else the first usual place, for a message to name.
[[nodiscard]] DataPaths locate_data(const std::string& data_option, const std::string& weights_option);

}  // namespace mprof::cli
