// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace mprof::test {

/// What an export of Nsight Systems of some version has and lacks.
struct ExportSchema {
  std::string version{};  ///< empty: from before META_DATA_EXPORT
  bool mangled_names = true;
  bool graph_nodes = true;
  bool green_contexts = true;
  bool clusters = true;
  bool enumerations = true;
  bool target_info = true;
  bool registered_ranges = false;  ///< names of ranges by textId, and not in text
  bool overhead_by_profiler = true;
};

/// The schemas that were seen, from 2019 on, the oldest first.
[[nodiscard]] std::vector<ExportSchema> export_schemas();

/// Writes an export by code. It has two processes whose correlation ids are the same. Each has a thread that
/// opens the NVTX ranges "load" and "step" one after the other and, in a library's domain, "inner" around the
/// second kernel. After them comes a kernel without a range. A process has 3 kernels, a copy in and a memset.
void write_export(const std::filesystem::path& file, const ExportSchema& schema);

/// The rows of all tables in another order.
void shuffle_rows(const std::filesystem::path& file);

}  // namespace mprof::test
