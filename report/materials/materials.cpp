// SPDX-License-Identifier: MIT
#include "report/materials/materials.hpp"

#include "model/sanitizer_file.hpp"
#include "model/trace/trace.hpp"

namespace mprof {

Materials read_materials(const Run& run, const std::filesystem::path& directory, const OwnSources& own,
                         std::optional<trace::Trace> trace) {
  Materials materials;
  materials.evidence = trace
                           ? evidence_of(*std::move(trace))
                           : read_evidence(run, directory.empty() ? directory : directory / trace::file_name);
  for (const VariantInfo& info : run.variants) materials.sources[info.id] = read_source(directory, info, own);
  materials.notes = read_notes(directory);
  if (!directory.empty()) materials.sanitizer = read_sanitizer_record(sanitizer_file(directory));
  return materials;
}

}  // namespace mprof
