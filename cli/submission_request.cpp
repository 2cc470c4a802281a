// SPDX-License-Identifier: MIT
#include "cli/submission_request.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/planned_run.hpp"
#include "cli/values.hpp"
#include "model/run_file.hpp"
#include "system/error.hpp"
#include "system/programs.hpp"

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

}  // namespace

Submission new_submission(const Arguments& arguments) {
  return {.scheduler = "slurm",
          .job = new_job_name(),
          .shards = arguments.given("shards") ? parse_shards(arguments.text("shards")) : usual_shards,
          .options = slurm_options(arguments)};
}

Submission renewed(Submission submission, const Arguments& arguments) {
  const std::string out = arguments.text("out");
  if (arguments.given("shards") && parse_shards(arguments.text("shards")) != submission.shards)
    throw Error(ExitCode::usage,
                fmt::format("--shards {}: {} was divided into {} already. Leave that out, or "
                            "submit to another --out.",
                            arguments.text("shards"), out, submission.shards));
  std::error_code error;
  const fs::path first = shard_path(out, 1);
  if (fs::exists(first / "run.json", error))
    refuse_contradictions(plan_contradictions(arguments, read_record(first)), out);
  const std::vector<std::string> options = slurm_options(arguments);
  if (!options.empty()) submission.options = options;
  return submission;
}

slurm::Work work_of(const Arguments& arguments) {
  slurm::Work work{.program = own_program(),
                   .directory = fs::absolute(arguments.text("out")).lexically_normal(),
                   .folder = fs::current_path(),
                   .options = {}};
  if (!work.directory.has_filename()) work.directory = work.directory.parent_path();
  if (arguments.given("rounds")) work.options = {"--rounds", arguments.text("rounds")};
  return work;
}

}  // namespace mprof::cli
