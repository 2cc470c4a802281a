// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "injection/journal_writer.hpp"
#include "model/trace/journal.hpp"
#include "model/trace/window.hpp"

namespace mprof::injection {

/// Whether this process is in the part of the program that --window asks for. It opens once, and closes once.
/// CUPTI records all the time: what is switched on late costs the records at the edge. The gate decides which
/// of them are kept.
class WindowGate {
 public:
  /// Of the window that the environment names; without one it is always open.
  explicit WindowGate(JournalWriter& journal);

  [[nodiscard]] bool is_set() const { return given_.has_value(); }
  /// Whether NVTX ranges, or calls of cudaProfilerStart() and cudaProfilerStop(), open and close it.
  [[nodiscard]] bool needs_ranges() const;
  [[nodiscard]] bool needs_profiler_calls() const;

  /// On any thread. `id`: of no other range of the process.
  void range_begins(std::uint64_t id, std::string_view text);
  void range_ends(std::uint64_t id);
  void profiler_starts();
  void profiler_stops();

  [[nodiscard]] bool is_open() const;
  /// Whether a record is kept, by its start and end, ns since 1970. Work of a GPU may have been launched just
  /// before the end, and be done much later: that is kept too, and who reads it looks at its launch.
  [[nodiscard]] bool keeps(std::int64_t start, std::int64_t end, bool is_of_gpu) const;

 private:
  /// `thread`: that begins a range there; 0: none does.
  void open(std::int64_t time, std::uint32_t thread = 0);
  void close(std::int64_t time, std::uint32_t thread = 0);
  void write(const journal::WindowEdge& edge);

  JournalWriter& journal_;
  std::optional<trace::GivenWindow> given_;
  std::atomic<std::int64_t> opened_ = never;
  std::atomic<std::int64_t> closed_ = never;
  std::mutex mutex_;        ///< of what follows
  std::uint64_t seen_ = 0;  ///< ranges of the name, or starts
  std::uint64_t last_ = 0;  ///< the range at whose end it closes

  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
};

}  // namespace mprof::injection
