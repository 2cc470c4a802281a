// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "model/trace/trace.hpp"

namespace mprof::test {

/// What write_trace() wrote of a case, by other queries than read_trace()'s: with the times and the
/// correlation ids that were written. nullopt when the file does not have it. Throws Error(environment) when
/// there is no such file.
[[nodiscard]] std::optional<trace::Trace> read_by_sql(const std::filesystem::path& file,
                                                      const std::string& case_id);

}  // namespace mprof::test
