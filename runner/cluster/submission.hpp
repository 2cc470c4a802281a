// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "model/run.hpp"

/// A run that was given to a scheduler in shards. Everything that is known of it stands below DIR/shards:
/// submission.json, a result directory a shard (1, 2, ...), what the jobs run (shard.sh, merge.sh) and what
/// they printed (log/).
namespace mprof {

struct Submission {
  int schema_version = 1;
  std::string scheduler{};  ///< "slurm"
  std::string job{};        ///< the name of its jobs, which no other run's jobs have
  std::uint32_t shards = 1;
  std::vector<std::string> options{};  ///< for the scheduler, as it takes them on its command line
  bool operator==(const Submission&) const = default;
};

/// Where the shards of the run in DIR are, and one of them.
[[nodiscard]] std::filesystem::path shards_of(const std::filesystem::path& directory);
[[nodiscard]] std::filesystem::path shard_path(const std::filesystem::path& directory, std::uint32_t index);

/// nullopt when nothing was submitted there. Throws Error(usage) that names the field when it is damaged.
[[nodiscard]] std::optional<Submission> read_submission(const std::filesystem::path& directory);
/// Durable; throws Error(environment) when it cannot be written.
void write_submission(const Submission& submission, const std::filesystem::path& directory);

/// A name for the jobs of a new submission: "mprof-" and eight random digits.
[[nodiscard]] std::string new_job_name();

/// Makes a result directory for each shard of the run that has none yet, its cases divided by the times of
/// `earlier` where that is given. What is there stays, so that it can be called again after an interruption.
void prepare_shards(const Run& run, const Submission& submission, const Run* earlier,
                    const std::filesystem::path& directory);

/// Whether shards were not made yet, as after a submission that was interrupted.
[[nodiscard]] bool shards_are_missing(const Submission& submission, const std::filesystem::path& directory);

/// The shards, from 1, that are not complete.
[[nodiscard]] std::vector<std::uint32_t> shards_left(const Submission& submission,
                                                     const std::filesystem::path& directory);

/// Throws Error, before anything is planned or made, for a directory that cannot take the run and its shards.
/// `begins`: it is not there yet.
void require_place(const std::filesystem::path& directory, bool begins);

/// Makes the folder of the shards, in a directory that can take the merged run.
void make_folders(const std::filesystem::path& directory, bool begins);

}  // namespace mprof
