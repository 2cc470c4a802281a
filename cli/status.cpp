#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <optional>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/options.hpp"
#include "cli/values.hpp"
#include "model/run_file.hpp"
#include "report/text/format.hpp"
#include "runner/cluster/progress.hpp"
#include "runner/cluster/slurm.hpp"
#include "runner/cluster/submission.hpp"
#include "runner/devices.hpp"
#include "system/error.hpp"
#include "system/folder_lock.hpp"

namespace mprof::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// The shards of a run, or the shares of its devices, or the run alone where it has neither.
struct Overview {
  std::vector<ShardProgress> shards{};
  std::optional<Submission> submission{};
  std::optional<RunState> merged{};  ///< of the run that they are merged into
  bool are_of_devices = false;       ///< which one command measures, and merges
  bool merge_is_queued = false;
  std::string silence{};  ///< why the scheduler did not say what its jobs do
};

bool is_run(const fs::path& path) {
  std::error_code error;
  return fs::exists(path / "run.json", error);
}

/// Of a run that is not spread over devices, or that of which the record tells all, none.
std::vector<ShardProgress> read_shares(const Run& run, const fs::path& directory) {
  std::vector<ShardProgress> shares;
  if (run.state == RunState::complete) return shares;
  for (const std::string& id : devices_of(run, directory)) {
    const fs::path path = directory / devices_folder / id;
    shares.push_back(progress_of(read_record(path), path));
    shares.back().note = id;
  }
  return shares;
}

void read_shards(Overview& overview, const fs::path& directory) {
  std::vector<ShardProgress>& shards = overview.shards;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(shards_of(directory), error)) {
    if (is_run(entry.path())) shards.push_back(progress_of(read_record(entry.path()), entry.path()));
  }
  if (shards.empty()) {
    const Run run = read_record(directory);
    shards = read_shares(run, directory);
    overview.are_of_devices = !shards.empty();
    if (shards.empty()) shards.push_back(progress_of(run, directory));
  }
  std::ranges::sort(shards, {}, [](const ShardProgress& shard) {
    return std::pair(shard.shard.index, shard.path.string());
  });
  for (ShardProgress& shard : shards) {
    if (shard.state == ShardState::stopped && FolderLock::is_held(shard.path))
      shard.state = ShardState::running;
  }
}

/// What Slurm says of shards that are not complete.
void ask_slurm(Overview& overview) {
  slurm::Queue queue = slurm::queued_jobs(*overview.submission);
  overview.silence = std::move(queue.failure);
  for (const slurm::QueuedJob& job : queue.jobs) {
    if (job.shard == 0) overview.merge_is_queued = true;
    for (ShardProgress& shard : overview.shards) {
      if (shard.shard.index != job.shard || shard.state == ShardState::complete) continue;
      const bool waits = job.state == "PENDING" || job.state == "REQUEUED" || job.state == "SUSPENDED";
      shard.state = waits ? ShardState::waiting : ShardState::running;
      shard.note = waits ? job.reason : job.nodes;
    }
  }
}

Overview overview_of(const fs::path& directory) {
  Overview overview{.submission = read_submission(directory)};
  read_shards(overview, directory);
  const bool has_shards = overview.shards.front().path != directory;
  if (has_shards && is_run(directory)) overview.merged = read_record(directory).state;
  const bool is_done = overview.merged == RunState::complete;
  if (overview.submission && !is_done && slurm::is_here()) ask_slurm(overview);
  return overview;
}

std::size_t total(const Overview& overview, std::size_t ShardProgress::*number) {
  std::size_t sum = 0;
  for (const ShardProgress& shard : overview.shards) sum += shard.*number;
  return sum;
}

std::string moment(double seconds_from_now) {
  const auto end =
      std::chrono::system_clock::now() + std::chrono::seconds(static_cast<std::int64_t>(seconds_from_now));
  return fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(std::chrono::system_clock::to_time_t(end)));
}

bool all_are(const Overview& overview, ShardState state) {
  return std::ranges::all_of(overview.shards, [&](const ShardProgress& s) { return s.state == state; });
}

bool any_is(const Overview& overview, ShardState state) {
  return std::ranges::any_of(overview.shards, [&](const ShardProgress& s) { return s.state == state; });
}

std::string next_step(const Overview& overview, const std::string& directory) {
  const bool has_shards = overview.shards.front().path.string() != directory;
  if (!has_shards || overview.merged == RunState::complete)
    return any_is(overview, ShardState::stopped)
               ? fmt::format("Go on with it: mprof run --resume --out {}", directory)
           : any_is(overview, ShardState::running)
               ? ""
               : fmt::format("Complete. Next: mprof report {}", directory);
  if (any_is(overview, ShardState::running) || any_is(overview, ShardState::waiting)) return "";
  if (overview.are_of_devices) return fmt::format("Go on with it: mprof run --resume --out {}", directory);
  if (overview.merge_is_queued) return "All shards are through; the job that merges them waits or runs.";
  if (all_are(overview, ShardState::complete))
    return fmt::format("Complete, not merged yet: mprof merge {}/shards/[0-9]* --out {} --overwrite",
                       directory, directory);
  if (overview.submission)
    return fmt::format("Go on with what stopped: mprof submit {} --out {} (what the jobs printed is in {})",
                       overview.submission->scheduler, directory, (shards_of(directory) / "log").string());
  return fmt::format("Go on with what stopped: mprof run --resume --out {}/shards/I", directory);
}

void print_text(const Overview& overview, const std::string& directory) {
  fmt::print("{:<9} {:<9} {:>7} {:>7} {:>7}\n", "Shard", "State", "Done", "Failed", "Left");
  const auto row = [](const std::string& name, std::string_view state, std::size_t done, std::size_t failed,
                      std::size_t left, const std::string& note) {
    fmt::print("{:<9} {:<9} {:>7} {:>7} {:>7}{}{}\n", name, state, done, failed, left,
               note.empty() ? "" : "  ", note);
  };
  std::size_t failed = 0;
  for (const ShardProgress& shard : overview.shards) {
    failed += shard.failures.size();
    row(fmt::format("{}/{}", shard.shard.index, shard.shard.count), to_string(shard.state), shard.done,
        shard.failures.size(), shard.cases - shard.done, format::one_line(shard.note));
  }
  const std::size_t done = total(overview, &ShardProgress::done);
  row("all", "", done, failed, total(overview, &ShardProgress::cases) - done, "");
  for (const ShardProgress& shard : overview.shards) {
    for (const std::string& failure : shard.failures) fmt::print("failed: {}\n", format::one_line(failure));
  }
  if (!overview.silence.empty())
    fmt::print("What its jobs do is not known, Slurm does not answer: {}\n",
               format::one_line(overview.silence));
  if (const auto left = seconds_left(overview.shards))
    fmt::print("About {} left, until {}.\n", duration(*left), moment(*left));
  if (const std::string next = next_step(overview, directory); !next.empty()) fmt::print("{}\n", next);
}

Json to_json(const Overview& overview) {
  Json shards = Json::array();
  for (const ShardProgress& shard : overview.shards) {
    shards.push_back({{"index", shard.shard.index},
                      {"count", shard.shard.count},
                      {"path", shard.path.string()},
                      {"state", to_string(shard.state)},
                      {"note", shard.note},
                      {"cases", shard.cases},
                      {"done", shard.done},
                      {"left", shard.cases - shard.done},
                      {"failures", shard.failures}});
  }
  const std::size_t done = total(overview, &ShardProgress::done);
  Json json{{"shards", std::move(shards)},
            {"done", done},
            {"left", total(overview, &ShardProgress::cases) - done},
            {"merged", overview.merged == RunState::complete}};
  const auto left = seconds_left(overview.shards);
  json["seconds_left"] = left ? Json(*left) : Json();
  return json;
}

int status(const Arguments& arguments) {
  const std::string directory = arguments.text("DIR");
  const Overview overview = overview_of(directory);
  if (arguments.flag("json"))
    fmt::print("{}\n", to_json(overview).dump(2, ' ', false, Json::error_handler_t::replace));
  else
    print_text(overview, directory);
  return static_cast<int>(ExitCode::success);
}

}  // namespace

Verb status_verb() {
  return {.name = "status",
          .positional = "DIR",
          .summary = "how far a run is: done, running, failed, left, and until when",
          .description =
              "Says of each shard of the run in DIR (of DIR/shards, of each GPU's share of it, or of the run "
              "itself) whether it is complete, running, waiting or stopped, how many of its cases are done, "
              "failed and left, when all should be through, and what to do next. Looks at the records alone "
              "and, where the run was submitted, asks Slurm; disturbs nothing.",
          .options = {{"json", "", "", "Print JSON instead of text."}},
          .run = status};
}

}  // namespace mprof::cli
