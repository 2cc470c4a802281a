// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "model/run.hpp"
#include "model/sanitizer.hpp"
#include "report/analysis/evidence.hpp"
#include "report/materials/notes.hpp"
#include "report/materials/sources.hpp"

namespace mprof {

/// What a report is made of beside run.json: everything else that lies in the run directory.
struct Materials {
  Evidence evidence{};
  std::map<std::string, VariantSource> sources{};  ///< by variant id
  std::map<std::string, Note> notes{};             ///< by name
  std::optional<SanitizerRecord> sanitizer{};      ///< what compute-sanitizer found; nullopt: it was not run
  bool linked = false;  ///< the report stands in the run directory, so that it can link the files there
};

/// Throws Error when a file is there and cannot be read. An empty directory: there is nothing but the run.
/// A trace that was read already, with evidence_parts, is not read again.
[[nodiscard]] Materials read_materials(const Run& run, const std::filesystem::path& directory,
                                       const OwnSources& own = {},
                                       std::optional<trace::Trace> trace = std::nullopt);

}  // namespace mprof
