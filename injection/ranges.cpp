// SPDX-License-Identifier: MIT
// The library that NVTX loads into each process of a program in its timing pass (NVTX_INJECTION64_PATH): it
// writes when ranges began and ended, and nothing else; no CUPTI is loaded. A process that has no range does
// not load it.
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <utility>

#include <unistd.h>

#include "injection/journal_writer.hpp"
#include "injection/nvtx_calls.hpp"

namespace mprof::injection {
namespace {

constexpr std::size_t written_together = std::size_t{1} << 16;  // B

class RangeWriter final : public NvtxObserver {
 public:
  explicit RangeWriter(const char* folder) : journal_(folder, 0) {}

  void ends(const NvtxRange& range, bool is_of_thread) override {
    const std::int64_t end = now();
    const std::lock_guard lock(mutex_);
    journal::Range entry{.start = range.start, .end = end};
    entry.thread = static_cast<std::uint32_t>(::gettid());
    entry.is_of_thread = is_of_thread ? 1 : 0;
    entry.text = journal_.text(range.text.c_str(), chunk_);
    entry.domain = range.domain == nullptr ? 0 : journal_.text(range.domain->c_str(), chunk_);
    chunk_.add_value(journal::Kind::range, entry);
    if (chunk_.bytes().size() >= written_together) flush();
  }

  void finish() {
    const std::lock_guard lock(mutex_);
    if (journal_.is_of_another_process()) return;
    chunk_.add_value(journal::Kind::until, now());
    chunk_.add(journal::Kind::end, {});
    flush();
  }

 private:
  void flush() { journal_.write(std::exchange(chunk_, {})); }

  JournalWriter journal_;
  std::mutex mutex_;  ///< of what follows
  Chunk chunk_;
};

/// Never destroyed: ranges end while the process does.
RangeWriter* writer = nullptr;

std::mutex starting;

bool is_started() {
  const std::lock_guard lock(starting);
  if (writer != nullptr) return true;
  const char* const folder = std::getenv(journal::folder_variable);
  if (folder == nullptr) return false;
  writer = new RangeWriter(folder);
  std::atexit([] { writer->finish(); });
  return true;
}

}  // namespace
}  // namespace mprof::injection

#define MPROF_EXPORTED extern "C" __attribute__((visibility("default")))

/// NVTX's, in the first call of each module that has it: 0 turns NVTX off there.
// NOLINTNEXTLINE(readability-identifier-naming): NVTX's name
MPROF_EXPORTED int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_export_table) {
  if (!mprof::injection::is_started()) return 0;
  return mprof::injection::take_nvtx_calls(get_export_table, *mprof::injection::writer) ? 1 : 0;
}
