// SPDX-License-Identifier: MIT
#include <cstdio>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "cli/family_options.hpp"
#include "cli/options.hpp"
#include "cli/planned_run.hpp"
#include "cli/submission_request.hpp"
#include "kernels/registry.hpp"
#include "model/run_file.hpp"
#include "runner/cluster/slurm.hpp"
#include "runner/cluster/submission.hpp"
#include "runner/result_directory.hpp"
#include "runner/shards.hpp"
#include "system/error.hpp"
#include "system/files.hpp"
#include "system/folder_lock.hpp"

namespace mprof::cli {
namespace {

namespace fs = std::filesystem;

void show(const Arguments& arguments, const Submission& submission, const slurm::Work& work) {
  Sources sources(arguments, true);
  const Run run = planned_run(arguments, sources);
  const std::optional<Run> earlier = earlier_run(arguments);
  const std::vector<double> costs = expected_costs(run.cases, earlier ? &*earlier : nullptr);
  const std::vector<std::uint32_t> shards = assign_shards(costs, submission.shards);
  std::vector<std::uint32_t> all;
  fmt::print("{} cases in {} shards:\n", run.cases.size(), submission.shards);
  for (std::uint32_t i = 1; i <= submission.shards; ++i) {
    all.push_back(i);
    fmt::print("{}/{}:", i, submission.shards);
    for (std::size_t c = 0; c < run.cases.size(); ++c) {
      if (shards[c] == i) fmt::print(" {}", run.cases[c].id);
    }
    fmt::print("\n");
  }
  fmt::print("\n{}\n\n{}\n{}\n\n{}\nNothing was submitted, and nothing written (--dry-run).\n",
             slurm::typed(slurm::array_command(submission, work, all)), slurm::shard_script(work),
             slurm::typed(slurm::merge_command(submission, work, "JOB")), slurm::merge_script(work));
}

void require_slurm() {
  if (slurm::is_here()) return;
  throw Error(
      ExitCode::environment,
      "sbatch and squeue are not on PATH: this machine has no Slurm. Submit from a machine that has, "
      "look at what would be done with --dry-run, or run the shards otherwise (docs/guides/clusters.md).");
}

void write_scripts(const slurm::Work& work) {
  const fs::path folder = shards_of(work.directory);
  write_file(folder / "shard.sh", slurm::shard_script(work));
  write_file(folder / "merge.sh", slurm::merge_script(work));
}

/// With the lock on the folder: of two that submit at once, the second finds the first one's jobs.
int submit_jobs(const Submission& submission, const slurm::Work& work) {
  const std::string out = work.directory.string();
  const slurm::Queue queue = slurm::queued_jobs(submission);
  if (!queue.failure.empty())
    throw Error(ExitCode::environment,
                fmt::format("squeue does not say whether this was submitted already: {}. Submit again when "
                            "Slurm's controller answers.",
                            queue.failure));
  if (!queue.jobs.empty()) {
    fmt::print("Submitted already: {} of its jobs wait or run. See how far it is: mprof status {}\n",
               queue.jobs.size(), out);
    return static_cast<int>(ExitCode::success);
  }
  const std::vector<std::uint32_t> left = shards_left(submission, work.directory);
  std::error_code error;
  if (left.empty() && fs::exists(work.directory / "run.json", error) &&
      read_record(work.directory).state == RunState::complete) {
    fmt::print("Complete already: {}. Next: mprof report {}\n", out, out);
    return static_cast<int>(ExitCode::success);
  }
  std::optional<std::string> array;
  if (!left.empty()) {
    array = slurm::submit(slurm::array_command(submission, work, left));
    fmt::print("Submitted {} of {} shards as job {}.\n", left.size(), submission.shards, *array);
  }
  const std::string merge = slurm::submit(slurm::merge_command(submission, work, array));
  fmt::print("Job {} merges them then. See how far it is: mprof status {}\n", merge, out);
  return static_cast<int>(ExitCode::success);
}

int submit(const Arguments& arguments) {
  if (arguments.text("SCHEDULER") != "slurm")
    throw Error(
        ExitCode::usage,
        fmt::format("mprof submit {}: slurm is the one scheduler that mprof submits to; for others see "
                    "docs/guides/clusters.md.",
                    arguments.text("SCHEDULER")));
  if (!arguments.given("out"))
    throw Error(ExitCode::usage, "mprof submit needs --out DIR, which all nodes see under the same name.");
  const slurm::Work work = work_of(arguments);
  const std::optional<Submission> known = read_submission(work.directory);
  Submission submission = known ? renewed(*known, arguments) : new_submission(arguments);
  require_place(work.directory, !known);
  if (arguments.flag("dry-run")) return show(arguments, submission, work), 0;
  require_slurm();
  const bool begins = !known || shards_are_missing(submission, work.directory);
  Sources sources(arguments, false);
  const std::optional<Run> run = begins ? std::optional(planned_run(arguments, sources)) : std::nullopt;
  const std::optional<Run> earlier = earlier_run(arguments);
  make_folders(work.directory, !known);
  const FolderLock lock(shards_of(work.directory));
  if (const auto others = read_submission(work.directory); others && !known) submission = *others;
  write_submission(submission, work.directory);
  if (run) prepare_shards(*run, submission, earlier ? &*earlier : nullptr, work.directory);
  write_scripts(work);
  return submit_jobs(submission, work);
}

}  // namespace

Verb submit_verb() {
  std::vector<Option> options = plan_options();
  append(
      options,
      in_group("The jobs",
               {{"out", "DIR", "", "The directory of the run. All nodes must see it under the same name."},
                {"shards", "N", "4", "Elements of the job array."},
                {"partition", "NAME", "", "Slurm's partition."},
                {"gres", "LIST", "", "What each shard needs, like gpu:h200:1. Default: no GPU."},
                {"time", "LIMIT", "",
                 "Slurm's time limit of a shard, like 1:00:00. A shard that reaches it is queued again and "
                 "goes on, as long as it finishes cases."},
                {"sbatch", "OPTION", "", "Any other option of sbatch, like --sbatch=--account=NAME.", true},
                {"dry-run", "", "", "Print the shards, the jobs and their scripts. Submit nothing."}}));
  add_axis_options(options, Registry::instance(), AxisUse::sweep);
  add_input_options(options, Registry::instance());
  return {
      .name = "submit",
      .positional = "SCHEDULER",
      .choices = "slurm",
      .summary = "run on a cluster (slurm): an array of jobs, and one that merges them",
      .description =
          "Divides the run that these options of `mprof run` ask for into shards. It submits them to "
          "Slurm as a job array, and a second job that merges them into --out. Submit again with the same "
          "--out to go on with shards that were stopped. docs/guides/clusters.md explains it.",
      .examples = {{"mprof submit slurm --all --gres gpu:1 --out runs/a", "all variants, in four jobs"},
                   {"mprof submit slurm --all --out runs/a --dry-run", "what would be submitted"},
                   {"mprof status runs/a", "how far it is"}},
      .section = Section::cluster,
      .options = std::move(options),
      .run = submit,
      .takes_sources = true};
}

}  // namespace mprof::cli
