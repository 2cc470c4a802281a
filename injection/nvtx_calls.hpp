// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include <nvtx3/nvToolsExt.h>

namespace mprof::injection {

struct NvtxRange {
  std::uint64_t id = 0;    ///< of no other range in this process
  std::int64_t start = 0;  ///< ns since 1970
  std::string text{};
  const std::string* domain = nullptr;  ///< its name; nullptr: the default one
};

/// Called for each range, on the thread that begins or ends it.
class NvtxObserver {
 public:
  virtual ~NvtxObserver() = default;
  virtual void begins(const NvtxRange& /*range*/) {}
  /// `is_of_thread`: it was pushed and popped there; otherwise started and ended anywhere.
  virtual void ends(const NvtxRange& range, bool is_of_thread) = 0;
};

/// Takes the calls of the module whose NVTX asks for it, for an observer that is never destroyed: the same
/// one for all modules. False when NVTX hands over nothing to take.
[[nodiscard]] bool take_nvtx_calls(NvtxGetExportTableFunc_t get_export_table, NvtxObserver& observer);

}  // namespace mprof::injection
