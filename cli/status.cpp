#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iterator>
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
  std::size_t unassigned = 0;  ///< cases of shards that have not begun, not known of which
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

/// Returns the shards' records, without results.
std::vector<Run> read_shards(Overview& overview, const fs::path& directory) {
  std::vector<ShardProgress>& shards = overview.shards;
  std::vector<Run> records;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(shards_of(directory), error)) {
    if (!is_run(entry.path())) continue;
    records.push_back(read_record(entry.path()));
    shards.push_back(progress_of(records.back(), entry.path()));
    for (Case& c : records.back().cases) c.passes.clear();
  }
  if (shards.empty()) {
    const Run run = read_record(directory);
    shards = read_shares(run, directory);
    overview.are_of_devices = !shards.empty();
    if (shards.empty()) shards.push_back(progress_of(run, directory));
  }
  for (ShardProgress& shard : shards) {
    if (shard.state == ShardState::stopped && FolderLock::is_held(shard.path))
      shard.state = ShardState::running;
  }
  return records;
}

void add_absent(Overview& overview, const std::vector<Run>& shards) {
  AbsentShards absent = absent_shards(shards);
  overview.unassigned = absent.unassigned;
  std::ranges::move(absent.shards, std::back_inserter(overview.shards));
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

/// What a scheduler was given may be at work where only that sees it.
void ask_scheduler(Overview& overview) {
  if (slurm::is_here())
    ask_slurm(overview);
  else
    overview.silence = "sbatch and squeue are not on PATH here";
  if (overview.silence.empty()) return;
  for (ShardProgress& shard : overview.shards) {
    if (shard.state == ShardState::stopped) shard.state = ShardState::unknown;
  }
}

Overview overview_of(const fs::path& directory) {
  Overview overview{.submission = read_submission(directory)};
  const std::vector<Run> shards = read_shards(overview, directory);
  const bool has_shards = overview.shards.front().path != directory;
  if (has_shards && is_run(directory)) overview.merged = read_record(directory).state;
  if (overview.merged != RunState::complete) {  // of one that is, nobody needs the shards any more
    add_absent(overview, shards);
    if (overview.submission) ask_scheduler(overview);
  }
  std::ranges::sort(overview.shards, {}, [](const ShardProgress& shard) {
    return std::pair(shard.shard.index, shard.path.string());
  });
  return overview;
}

/// The cases of all shards.
ShardProgress sum_of(const Overview& overview) {
  ShardProgress sum{.cases = overview.unassigned};
  for (const ShardProgress& shard : overview.shards) {
    sum.cases += shard.cases;
    sum.done += shard.done;
    sum.failed += shard.failed;
  }
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
  using enum ShardState;
  for (const ShardState state : {running, waiting, unknown}) {
    if (any_is(overview, state)) return "";
  }
  if (overview.are_of_devices) return fmt::format("Go on with it: mprof run --resume --out {}", directory);
  if (overview.merge_is_queued && !any_is(overview, not_begun))
    return "All shards are through; the job that merges them waits or runs.";
  if (all_are(overview, complete))
    return fmt::format("Complete, not merged yet: mprof merge {}/shards/[0-9]* --out {} --overwrite",
                       directory, directory);
  if (!any_is(overview, stopped)) return "";
  if (overview.submission)
    return fmt::format("Go on with what stopped: mprof submit {} --out {} (what the jobs printed is in {})",
                       overview.submission->scheduler, directory, (shards_of(directory) / "log").string());
  return fmt::format("Go on with what stopped: mprof run --resume --out {}/shards/I", directory);
}

/// What is to be done with shards that have not begun.
std::string how_to_begin(const Overview& overview, const std::string& directory) {
  const auto absent = std::ranges::count(overview.shards, ShardState::not_begun, &ShardProgress::state);
  if (absent == 0) return "";
  const std::uint32_t count = overview.shards.front().shard.count;
  const std::string which =
      fmt::format("{} of {} shards {} not begun", absent, count, absent == 1 ? "has" : "have");
  if (overview.submission)
    return fmt::format("{}: submit again, with the options of the plan: mprof submit {} --out {}", which,
                       overview.submission->scheduler, directory);
  return fmt::format(
      "{}: begin each, with the options of the others: mprof run --shard I/{} --out {}/shards/I", which,
      count, directory);
}

void print_text(const Overview& overview, const std::string& directory) {
  fmt::print("{:<9} {:<9} {:>7} {:>7} {:>7}\n", "Shard", "State", "Done", "Failed", "Left");
  const auto row = [](const std::string& name, std::string_view state, const ShardProgress& shard) {
    const std::string left = shard.has_known_cases ? std::to_string(shard.left()) : "?";
    const std::string note = format::one_line(shard.note);
    fmt::print("{:<9} {:<9} {:>7} {:>7} {:>7}{}{}\n", name, state, shard.done, shard.failed, left,
               note.empty() ? "" : "  ", note);
  };
  for (const ShardProgress& shard : overview.shards)
    row(fmt::format("{}/{}", shard.shard.index, shard.shard.count), to_string(shard.state), shard);
  row("all", "", sum_of(overview));
  for (const ShardProgress& shard : overview.shards) {
    for (const std::string& failure : shard.failures) fmt::print("failed: {}\n", format::one_line(failure));
  }
  if (!overview.silence.empty())
    fmt::print("What its jobs do is not known, Slurm does not answer: {}\n",
               format::one_line(overview.silence));
  if (const auto left = seconds_left(overview.shards))
    fmt::print("About {} left, until {}.\n", duration(*left), moment(*left));
  for (const std::string& next : {next_step(overview, directory), how_to_begin(overview, directory)}) {
    if (!next.empty()) fmt::print("{}\n", next);
  }
}

Json to_json(const Overview& overview) {
  Json shards = Json::array();
  for (const ShardProgress& shard : overview.shards) {
    shards.push_back({{"index", shard.shard.index},
                      {"count", shard.shard.count},
                      {"path", shard.path.string()},
                      {"state", to_string(shard.state)},
                      {"note", shard.note},
                      {"cases", shard.has_known_cases ? Json(shard.cases) : Json()},
                      {"done", shard.done},
                      {"failed", shard.failed},
                      {"left", shard.has_known_cases ? Json(shard.left()) : Json()},
                      {"failures", shard.failures}});
  }
  const ShardProgress sum = sum_of(overview);
  Json json{{"shards", std::move(shards)},
            {"done", sum.done},
            {"failed", sum.failed},
            {"left", sum.left()},
            {"merged", overview.merged == RunState::complete},
            {"silence", overview.silence}};
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
              "itself) whether it is complete, running, waiting, stopped or not begun, how many of its cases "
              "are done, failed and left, when all should be through, and what to do next. Looks at the "
              "records alone and, where the run was submitted, asks Slurm; disturbs nothing.",
          .options = {{"json", "", "", "Print JSON instead of text."}},
          .run = status};
}

}  // namespace mprof::cli
