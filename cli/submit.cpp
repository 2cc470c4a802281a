#include <cstdio>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "cli/family_options.hpp"
#include "cli/options.hpp"
#include "cli/planned_run.hpp"
#include "cli/values.hpp"
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

constexpr std::uint32_t usual_shards = 4;

std::uint32_t parse_shards(const std::string& text) {
  constexpr std::uint64_t most = 100'000;
  const std::optional<std::uint64_t> shards = parse_whole(text);
  if (!shards || *shards < 1 || *shards > most)
    throw Error(ExitCode::usage, fmt::format("--shards {}: give a whole number from 1 to {}.", text, most));
  return static_cast<std::uint32_t>(*shards);
}

/// What Slurm is told of the jobs.
std::vector<std::string> slurm_options(const Arguments& arguments) {
  std::vector<std::string> options;
  for (const char* name : {"partition", "gres", "time"}) {
    if (arguments.given(name)) options.push_back(fmt::format("--{}={}", name, arguments.text(name)));
  }
  for (const std::string& option : arguments.texts("sbatch")) {
    if (!option.starts_with("-"))
      throw Error(ExitCode::usage, fmt::format("--sbatch {}: give an option of sbatch with its dashes, as in "
                                               "--sbatch=--account=NAME.",
                                               option));
    if (const slurm::OwnOption* const own = slurm::own_option(option))
      throw Error(ExitCode::usage,
                  fmt::format("--sbatch {}: mprof submit sets --{} itself: {}. Leave it out.", option,
                              own->name, own->use));
    options.push_back(option);
  }
  return options;
}

Submission new_submission(const Arguments& arguments) {
  return {.scheduler = "slurm",
          .job = new_job_name(),
          .shards = arguments.given("shards") ? parse_shards(arguments.text("shards")) : usual_shards,
          .options = slurm_options(arguments)};
}

/// The one that is there, with what this command line says otherwise of its jobs.
Submission renewed(Submission submission, const Arguments& arguments) {
  const std::string out = arguments.text("out");
  if (arguments.given("shards") && parse_shards(arguments.text("shards")) != submission.shards)
    throw Error(ExitCode::usage,
                fmt::format("--shards {}: {} was divided into {} already. Leave that out, or "
                            "submit to another --out.",
                            arguments.text("shards"), out, submission.shards));
  std::error_code error;
  const fs::path first = shard_path(out, 1);
  if (fs::exists(first / "run.json", error)) refuse_other_plan(arguments, read_record(first), out);
  const std::vector<std::string> options = slurm_options(arguments);
  if (!options.empty()) submission.options = options;
  return submission;
}

slurm::Work work_of(const Arguments& arguments) {
  slurm::Work work{.program = fs::read_symlink("/proc/self/exe"),
                   .directory = fs::absolute(arguments.text("out")).lexically_normal(),
                   .folder = fs::current_path(),
                   .options = {}};
  if (!work.directory.has_filename()) work.directory = work.directory.parent_path();
  if (arguments.given("rounds")) work.options = {"--rounds", arguments.text("rounds")};
  return work;
}

/// As after a submission that was interrupted.
bool shards_are_missing(const Submission& submission, const fs::path& directory) {
  std::error_code error;
  for (std::uint32_t i = 1; i <= submission.shards; ++i) {
    if (!fs::exists(shard_path(directory, i) / "run.json", error)) return true;
  }
  return false;
}

std::vector<std::uint32_t> shards_left(const Submission& submission, const fs::path& directory) {
  std::vector<std::uint32_t> left;
  for (std::uint32_t i = 1; i <= submission.shards; ++i) {
    if (read_record(shard_path(directory, i)).state != RunState::complete) left.push_back(i);
  }
  return left;
}

/// Refuses, before anything is planned or made, a directory that cannot take the run and its shards.
void require_place(const fs::path& directory, bool begins) {
  if (begins) ResultDirectory::require(directory, ResultDirectory::Mode::create, {});
  if (const std::error_code error = obstacle_to_writing(shards_of(directory)))
    throw Error(ExitCode::environment, fmt::format("cannot make {}: {}. Choose another --out.",
                                                   shards_of(directory).string(), error.message()));
}

/// The folder of the shards, in a directory that can take the merged run.
void make_folders(const fs::path& directory, bool begins) {
  if (begins) ResultDirectory(directory, ResultDirectory::Mode::create);
  if (const std::error_code error = mprof::make_folders(shards_of(directory) / "log"))
    throw Error(ExitCode::environment, fmt::format("cannot make {}: {}. Choose another --out.",
                                                   shards_of(directory).string(), error.message()));
}

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
  const std::vector<Option> own{
      {"out", "DIR", "", "Where the run shall be: a directory that all nodes see under the same name."},
      {"shards", "N", "4", "Elements of the job array: as many at once as the partition has room for."},
      {"partition", "NAME", "", "Slurm's partition."},
      {"gres", "LIST", "", "What each shard needs, like gpu:h200:1; without it no GPU."},
      {"time", "LIMIT", "",
       "Slurm's time limit of a shard, like 1:00:00. One that comes to it goes back into the queue and on "
       "from there, as long as it finishes cases."},
      {"sbatch", "OPTION", "", "Any other option of sbatch, like --sbatch=--account=NAME.", true},
      {"dry-run", "", "", "Print the shards, the jobs and their scripts; submit and write nothing."},
  };
  options.insert(options.end(), own.begin(), own.end());
  add_axis_options(options, Registry::instance(), AxisUse::sweep);
  add_input_options(options, Registry::instance());
  return {
      .name = "submit",
      .positional = "SCHEDULER",
      .summary = "a run as an array of jobs on a cluster (slurm), and one that merges them",
      .description =
          "Divides the plan that the options of `mprof run` ask for into shards, submits them to Slurm as a "
          "job array, and behind it a job that merges them into --out. The plan is made here, once: the jobs "
          "go on with it, whatever stops them, and no shard runs twice. Submitting again goes on with what "
          "was stopped, and does nothing while jobs wait or run. docs/guides/clusters.md tells more.",
      .options = std::move(options),
      .run = submit,
      .takes_sources = true};
}

}  // namespace mprof::cli
