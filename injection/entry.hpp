// SPDX-License-Identifier: MIT
#pragma once

#include <cstdlib>
#include <mutex>
#include <utility>

#include <nvtx3/nvToolsExt.h>

#include "injection/nvtx_calls.hpp"
#include "model/trace/journal.hpp"

namespace mprof::injection {

/// How a library comes up that watches CUDA, and observes NVTX ranges. The driver calls it in cuInit, and
/// NVTX calls it before that where the program uses NVTX first.
template <class Watcher>
class Entry {
 public:
  /// `make`: for the folder of the journals; nullptr where it cannot. Called once, and not at all where mprof
  /// did not start the program.
  using Make = Watcher* (*)(const char* folder);
  explicit Entry(Make make) : make_(make) {}

  /// In cuInit. Never waits, since the driver holds a lock here that starting may need.
  void cuda_begins() {
    const std::unique_lock lock(starting_, std::try_to_lock);
    if (!lock.owns_lock()) return;
    Watcher* const watcher = made();
    if (watcher != nullptr && !std::exchange(has_started_, true)) watcher->start();
  }

  /// In the first call of each module that has NVTX: 0 turns NVTX off there.
  int take_nvtx(NvtxGetExportTableFunc_t get_export_table) {
    const std::lock_guard lock(starting_);
    Watcher* const watcher = made();
    return watcher != nullptr && take_nvtx_calls(get_export_table, *watcher) ? 1 : 0;
  }

 private:
  Watcher* made() {
    if (std::exchange(has_begun_, true)) return watcher_;
    const char* const folder = std::getenv(journal::folder_variable);
    if (folder != nullptr) watcher_ = make_(folder);
    return watcher_;
  }

  Make make_;
  /// Held while it starts. The driver calls within that, on the same thread, where NVTX came first.
  std::recursive_mutex starting_;
  Watcher* watcher_ = nullptr;
  bool has_begun_ = false;
  bool has_started_ = false;
};

}  // namespace mprof::injection
