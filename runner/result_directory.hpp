// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/run.hpp"
#include "model/trace/trace.hpp"
#include "system/folder_lock.hpp"

namespace mprof {

/// Where the shards of a run lie until they are merged into its directory: shards/1, shards/2.
inline constexpr const char* shards_folder = "shards";

/// Whether there is a run, finished or not.
[[nodiscard]] bool holds_a_run(const std::filesystem::path& path);

/// The directory of one run, held by one coordinator at a time.
class ResultDirectory {
 public:
  enum class Mode { create, overwrite, resume };
  /// The options that the command has for a run that is there: a refusal names no others.
  struct Offers {
    bool resume = false;
    bool overwrite = false;
  };

  /// create: the directory must not exist or be empty. overwrite: it must be a result directory; its run
  /// stays until the first save() replaces it. resume: it must hold a run. Throws Error(usage) otherwise, or
  /// when another mprof writes there; Error(environment) when it cannot be made.
  ResultDirectory(std::filesystem::path path, Mode mode, Offers offers);
  ResultDirectory(std::filesystem::path path, Mode mode) : ResultDirectory(std::move(path), mode, {}) {}

  /// Throws Error(usage) for what is there as the constructor does, and makes nothing.
  static void require(const std::filesystem::path& path, Mode mode, Offers offers);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Where the trace pass puts its records.
  [[nodiscard]] std::filesystem::path trace_file() const { return path_ / trace::file_name; }
  /// The run as it was recorded, to go on with.
  [[nodiscard]] Run load() const;
  /// Keeps the source, the story and the drawing of each variant as files below kernels/, as they are in this
  /// program or, of a source from outside, beside that.
  void save_sources(const Run& run) const;
  /// Everything but the cases' results. Durable: after it returns, kill -9 or a power cut leaves this record
  /// or a later one. When the new record is there, the first call also removes what a replaced run left: its
  /// cases, its trace, and what the sanitizer found. It keeps what cases have to tell already.
  void save(const Run& run);
  /// The results of one case of the run that was saved, as durable.
  void save(const Case& c);
  /// Whether the file of a case that was saved is no longer what was written: something else, such as what a
  /// variant left running, has changed it.
  [[nodiscard]] bool was_changed(const Case& c) const;

 private:
  void remove_replaced_run() const;
  void keep_results(const Run& run);

  std::filesystem::path path_;
  Mode mode_;
  std::string stamp_;                           ///< of the run that was saved; empty: none was yet
  std::map<std::string, std::size_t> written_;  ///< a hash of each case's file, by id
  std::optional<FolderLock> lock_;
};

/// results/<UTC time>-<device>, for example results/2026-11-21T02-51-07Z-amd-epyc.
[[nodiscard]] std::filesystem::path default_result_path(const std::string& utc_time,
                                                        const std::string& device_name);

/// The run below results/ that was written last. Throws Error(usage) without a run.
[[nodiscard]] std::filesystem::path newest_result();

/// Now, UTC, ISO 8601, to the second: 2026-11-21T02:51:07Z.
[[nodiscard]] std::string utc_now();

}  // namespace mprof
