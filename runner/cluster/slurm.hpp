// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runner/cluster/submission.hpp"

/// Slurm, by its own commands on PATH: sbatch and squeue. SchedMD, Slurm documentation: sbatch, squeue, job
/// arrays.
namespace mprof::slurm {

/// What the jobs of a submission run, and where.
struct Work {
  std::filesystem::path program{};     ///< mprof, absolute
  std::filesystem::path directory{};   ///< of the run, absolute
  std::filesystem::path folder{};      ///< in which the jobs start: where relative paths of the plan begin
  std::vector<std::string> options{};  ///< for `mprof run --resume` of a shard
};

/// The script of an array's element: goes on with its shard. It passes SIGTERM on to mprof, which then ends
/// with what is finished on disk. When the time limit is near (SIGUSR1), it does the same. Then it puts
/// itself back into the queue if a case was finished since it began.
[[nodiscard]] std::string shard_script(const Work& work);
/// The script of the job behind the array: merges all shards, or says what keeps it from that.
[[nodiscard]] std::string merge_script(const Work& work);

/// An option of sbatch that mprof sets itself.
struct OwnOption {
  std::string_view name{};
  char letter = 0;         ///< its short form; 0: it has none
  std::string_view use{};  ///< what mprof sets it for, or what says the same
};

/// The one that a word of sbatch's command line would set again; nullptr: none.
[[nodiscard]] const OwnOption* own_option(std::string_view word);

/// The command lines that submit them. `shards` are those still to run; `after`: the array's job.
[[nodiscard]] std::vector<std::string> array_command(const Submission& submission, const Work& work,
                                                     const std::vector<std::uint32_t>& shards);
[[nodiscard]] std::vector<std::string> merge_command(const Submission& submission, const Work& work,
                                                     const std::optional<std::string>& after);
/// A command line as one would type it.
[[nodiscard]] std::string typed(const std::vector<std::string>& command);

/// Whether this machine can submit jobs: sbatch and squeue are on PATH.
[[nodiscard]] bool is_here();

/// Submits, and returns the job's id. Throws Error(environment) with what sbatch said.
[[nodiscard]] std::string submit(const std::vector<std::string>& command);

/// A job, or an element of an array, that Slurm has not done with.
struct QueuedJob {
  std::uint32_t shard = 0;  ///< 0: the one that merges
  std::string state{};      ///< "PENDING", "RUNNING", "COMPLETING", ...
  std::string nodes{};      ///< empty: none yet
  std::string reason{};     ///< why it waits
};

struct Queue {
  std::vector<QueuedJob> jobs{};
  std::string failure{};  ///< what squeue said when it could not tell; empty: it could
};

/// The jobs of a submission.
[[nodiscard]] Queue queued_jobs(const Submission& submission);

}  // namespace mprof::slurm
