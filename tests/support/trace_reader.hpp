#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "model/trace/trace.hpp"

namespace mprof::test {

/// What write_trace() wrote of a case, but for external correlations; nullopt when the file does not have
/// it. Throws Error(environment) when there is no such file.
[[nodiscard]] std::optional<trace::Trace> read_trace(const std::filesystem::path& file,
                                                     const std::string& case_id);

}  // namespace mprof::test
