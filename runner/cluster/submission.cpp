// SPDX-License-Identifier: MIT
#include "runner/cluster/submission.hpp"

#include <algorithm>
#include <random>
#include <system_error>

#include <fmt/format.h>

#include "model/json_archive.hpp"
#include "model/run_file.hpp"
#include "runner/result_directory.hpp"
#include "runner/shards.hpp"
#include "system/error.hpp"
#include "system/files.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;

fs::path submission_file(const fs::path& directory) {
  return shards_of(directory) / "submission.json";
}

}  // namespace

template <class Archive, Fields<Submission> S>
void fields(Archive& a, S& s) {
  a.field("schema_version", s.schema_version);
  a.field("scheduler", s.scheduler);
  a.field("job", s.job);
  a.field("shards", s.shards);
  a.optional_field("options", s.options);
}

fs::path shards_of(const fs::path& directory) {
  return directory / shards_folder;
}

fs::path shard_path(const fs::path& directory, std::uint32_t index) {
  return shards_of(directory) / std::to_string(index);
}

std::optional<Submission> read_submission(const fs::path& directory) {
  const fs::path file = submission_file(directory);
  std::error_code error;
  if (!fs::exists(file, error) && !error) return std::nullopt;
  Allowance allowance;
  const auto submission = json::from_json<Submission>(
      json::Document(read_file_within(directory, file, json::largest_document), file.string(), allowance),
      file.string(), allowance);
  if (submission.schema_version != 1)
    throw Error(ExitCode::usage,
                fmt::format("{} was written by a newer mprof: use that one.", file.string()));
  return submission;
}

void write_submission(const Submission& submission, const fs::path& directory) {
  write_file(submission_file(directory), json::print(json::to_json(submission)));
}

std::string new_job_name() {
  return fmt::format("mprof-{:08x}", std::random_device{}());
}

void prepare_shards(const Run& run, const Submission& submission, const Run* earlier,
                    const fs::path& directory) {
  for (std::uint32_t i = 1; i <= submission.shards; ++i) {
    const fs::path path = shard_path(directory, i);
    std::error_code error;
    if (fs::exists(path / "run.json", error)) continue;
    Run shard = run;
    shard.shard = Shard{i, submission.shards};
    shard.cases = cases_of_shard(run.cases, *shard.shard, earlier);
    ResultDirectory(path, ResultDirectory::Mode::create).save(shard);
  }
}

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

void require_place(const fs::path& directory, bool begins) {
  if (begins) ResultDirectory::require(directory, ResultDirectory::Mode::create, {});
  if (const std::error_code error = obstacle_to_writing(shards_of(directory)))
    throw Error(ExitCode::environment, fmt::format("cannot make {}: {}. Choose another --out.",
                                                   shards_of(directory).string(), error.message()));
}

void make_folders(const fs::path& directory, bool begins) {
  if (begins) ResultDirectory(directory, ResultDirectory::Mode::create);
  if (const std::error_code error = make_folders(shards_of(directory) / "log"))
    throw Error(ExitCode::environment, fmt::format("cannot make {}: {}. Choose another --out.",
                                                   shards_of(directory).string(), error.message()));
}

}  // namespace mprof
