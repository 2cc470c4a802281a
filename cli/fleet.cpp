
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/options.hpp"
#include "model/parts.hpp"
#include "model/run_file.hpp"
#include "report/page/fleet_page.hpp"
#include "report/text/format.hpp"
#include "report/views/views.hpp"
#include "system/error.hpp"
#include "system/files.hpp"

namespace mprof::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// Of what is bad, the slowest times of a GPU that text shows.
constexpr std::size_t shown_times = 3;

bool is_run(const fs::path& path) {
  std::error_code error;
  return fs::exists(path / "run.json", error);
}

/// The runs in a directory: itself, or what is in it.
void add_runs(const fs::path& directory, std::set<fs::path>& runs) {
  if (is_run(directory)) {
    runs.insert(directory);
    return;
  }
  const std::size_t before = runs.size();
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, error)) {
    if (is_run(entry.path())) runs.insert(entry.path());
  }
  if (runs.size() == before)
    throw Error(
        ExitCode::usage,
        fmt::format("{}: there is no run of mprof, nor are there any in it. Give the result directories "
                    "of the fleet's GPUs, or the folder that they are in.",
                    directory.string()));
}

/// Which machine of a merged run it is.
std::string part_name(const Run& run) {
  constexpr std::size_t telling = std::string_view("GPU-01234567").size();
  if (const std::string gpu = gpu_uuid(run); !gpu.empty()) return gpu.substr(0, telling);
  return run.shard ? fmt::format("shard {}/{}", run.shard->index, run.shard->count) : run.started;
}

/// The machines of a run: one, or those of the runs that it was merged from.
void add_members(const fs::path& path, std::vector<FleetMember>& members) {
  Run run = read_record(path);
  const bool is_merged = !run.parts.empty();
  const std::size_t before = members.size();
  visit_machines(std::move(run), [&](const Run& machine) {
    members.push_back(fleet_member(machine, path.string()));
    if (is_merged) members.back().part = part_name(machine);
  });
  if (members.size() > before) return;
  throw Error(
      ExitCode::usage,
      fmt::format("{}: the rounds of each of its cases are of several GPUs (mprof merge --pool), and it "
                  "is not known which are whose. Give the runs that it was merged from.",
                  path.string()));
}

struct FleetRuns {
  std::vector<FleetMember> members;  ///< of each GPU its newest run among those that are judged
  std::map<std::string, std::vector<fs::path>> by_gpu;  ///< all runs by the UUID of their GPU
};

/// One run at a time: of its samples nothing is kept. What has no UUID is a machine of its own each time.
FleetRuns read_fleet(const std::vector<std::string>& directories, const std::vector<std::string>& earlier) {
  std::set<fs::path> paths, earlier_paths;
  for (const std::string& directory : directories) add_runs(directory, paths);
  for (const std::string& directory : earlier) add_runs(directory, earlier_paths);
  FleetRuns runs;
  std::map<std::string, FleetMember> newest;
  for (const fs::path& path : paths) {
    std::vector<FleetMember> members;
    add_members(path, members);
    for (FleetMember& member : members) {
      if (member.gpu.empty()) {
        runs.members.push_back(std::move(member));
        continue;
      }
      runs.by_gpu[member.gpu].push_back(path);
      const auto place = newest.try_emplace(member.gpu, member).first;
      if (place->second.started < member.started) place->second = std::move(member);
    }
  }
  for (const fs::path& path : earlier_paths) {
    if (paths.contains(path)) continue;
    visit_machines(parse_run(read_file_within(path, path / "run.json"), (path / "run.json").string()),
                   [&](const Run& machine) {
                     const auto of_gpu = runs.by_gpu.find(gpu_uuid(machine));
                     if (of_gpu != runs.by_gpu.end()) of_gpu->second.push_back(path);
                   });
  }
  for (auto& [gpu, member] : newest) runs.members.push_back(std::move(member));
  std::ranges::sort(runs.members, {},
                    [](const FleetMember& member) { return std::tie(member.name, member.part); });
  return runs;
}

/// Of GPUs of one run, their runs by UUID, each run read once.
std::map<std::string, std::vector<RecordedRun>> recorded_runs(std::span<const FleetMember> members,
                                                              const FleetRuns& runs) {
  std::map<std::string, std::vector<RecordedRun>> recorded;
  std::set<fs::path> paths;
  for (const FleetMember& member : members) {
    const auto of_gpu = runs.by_gpu.find(member.gpu);
    if (of_gpu == runs.by_gpu.end() || of_gpu->second.size() < 2) continue;
    recorded[member.gpu];
    paths.insert(of_gpu->second.begin(), of_gpu->second.end());
  }
  for (const fs::path& path : paths) {
    visit_machines(read_run(path), [&](const Run& machine) {
      const auto of_gpu = recorded.find(gpu_uuid(machine));
      if (of_gpu != recorded.end()) of_gpu->second.push_back(recorded_run(machine, path.string()));
    });
  }
  return recorded;
}

/// The GPUs of one run at a time, those that have earlier runs.
std::vector<FleetHistory> read_histories(const FleetRuns& runs) {
  std::vector<FleetHistory> histories;
  for (std::size_t begin = 0, end = 0; begin < runs.members.size(); begin = end) {
    while (end < runs.members.size() && runs.members[end].name == runs.members[begin].name) ++end;
    const std::span members = std::span(runs.members).subspan(begin, end - begin);
    auto recorded = recorded_runs(members, runs);
    for (const FleetMember& member : members) {
      const auto of_gpu = recorded.find(member.gpu);
      if (of_gpu != recorded.end()) histories.push_back(judge_history(member, std::move(of_gpu->second)));
    }
  }
  std::ranges::stable_sort(histories, {}, [](const FleetHistory& history) {
    return std::pair(!history.declined, history.performance);
  });
  return histories;
}

/// As it stands behind a verdict.
std::string machine_text(const FleetMember& member) {
  const std::string& which = member.gpu.empty() ? member.part : member.gpu;
  return format::one_line(which.empty() ? member.name : fmt::format("{} ({})", member.name, which));
}

std::string deviations_text(double deviations) {
  return std::isfinite(deviations) ? fmt::format("{:.1f}", deviations) : "–";
}

void print_failures(const FleetMember& member) {
  for (const std::string& failure : member.failures) fmt::print("    {}\n", format::one_line(failure));
}

void print_details(const FleetOfModel& model, const FleetVerdict& verdict) {
  const std::string facts = fleet_facts_text(model, *verdict.member);
  if (!verdict.cause.empty()) fmt::print("    cause: {}\n", format::one_line(verdict.cause));
  if (verdict.slow && !facts.empty()) fmt::print("    {}\n", facts);
  for (std::size_t i = 0; i < std::min(shown_times, verdict.slow_times.size()); ++i) {
    const SlowTime& slow = verdict.slow_times[i];
    fmt::print("    {}: {} of the fleet, {} deviations\n", format::one_line(slow.time),
               format::percent(slow.performance), deviations_text(slow.deviations));
  }
  if (verdict.slow_times.size() > shown_times)
    fmt::print("    and {} more slow times\n", verdict.slow_times.size() - shown_times);
  for (const std::string& output : verdict.other_outputs)
    fmt::print("    {}: its output has other bits than the fleet's\n", format::one_line(output));
  print_failures(*verdict.member);
  if (verdict.once) fmt::print("    {}\n", what_tells(verdict));
}

void print_histories(const Fleet& fleet, bool all) {
  std::size_t as_before = 0;
  for (const FleetHistory& history : fleet.histories) {
    if (!all && !history.declined && history.absent.empty()) {
      ++as_before;
      continue;
    }
    fmt::print("{} ({}), {} runs: ", format::one_line(history.name), format::one_line(history.gpu),
               history.runs);
    if (!history.absent.empty())
      fmt::print("{}\n", format::one_line(history.absent));
    else if (history.declined)
      fmt::print("SLOWER THAN IT WAS in {} of {} times, at {} of before\n", history.declined_times.size(),
                 history.times, format::percent(history.performance));
    else
      fmt::print("as before\n");
    const auto& times = history.declined_times;
    for (std::size_t i = 0; i < std::min(shown_times, times.size()); ++i)
      fmt::print("    {}: {} of before, since {}\n", format::one_line(times[i].time),
                 format::percent(times[i].performance), moment(times[i].since));
  }
  if (as_before > 0) fmt::print("{} with earlier runs are as they were (--all shows them).\n", as_before);
}

void print_text(const Fleet& fleet, bool all) {
  for (const FleetOfModel& model : fleet.models) {
    fmt::print("{}: {} machines, {} times, natural spread {}\n", format::one_line(model.model),
               model.verdicts.size(), model.usual_times.size(), format::percent(model.spread));
    fmt::print("  {:>11}  {:>10}  {:<12} {}\n", "Performance", "Deviations", "Verdict", "Run");
    std::size_t fine = 0, untold = 0;
    for (const FleetVerdict& verdict : model.verdicts) {
      if (!all && !verdict.is_bad() && !verdict.once) {
        ++(verdict.times > 0 ? fine : untold);
        continue;
      }
      const bool is_compared = verdict.times > 0;
      fmt::print("  {:>11}  {:>10}  {:<12} {}\n", is_compared ? format::percent(verdict.performance) : "–",
                 is_compared ? deviations_text(verdict.deviations) : "–", fleet_standing(verdict),
                 machine_text(*verdict.member));
      print_details(model, verdict);
    }
    if (fine > 0) fmt::print("  {} more are ok (--all shows them).\n", fine);
    if (untold > 0)
      fmt::print(
          "  {} more have no time that five machines have, and were not compared (--all shows them).\n",
          untold);
  }
  if (!fleet.too_few.empty())
    fmt::print("Too few to tell a slow one (fewer than five): {}\n", format::list(fleet.too_few));
  for (const FleetMember* member : fleet.failed) {
    fmt::print("FAILED {}\n", machine_text(*member));
    print_failures(*member);
  }
  print_histories(fleet, all);
}

void refuse_silence(const Fleet& fleet) {
  if (fleet.says_something()) return;
  if (!fleet.models.empty())
    throw Error(
        ExitCode::incomparable,
        "nothing was compared: no time is in the runs of five GPUs of one model. GPUs that divided the "
        "cases of one run (--devices, --shard) have different ones: run the same on each.");
  throw Error(ExitCode::incomparable,
              "nothing can be said of a fleet of fewer than five GPUs of one model without earlier runs of "
              "them: give the runs of more, or of other days with --history.");
}

int show_fleet(const Arguments& arguments) {
  const FleetRuns runs = read_fleet(arguments.texts("DIR..."), arguments.texts("history"));
  Fleet fleet = judge_fleet(runs.members);
  fleet.histories = read_histories(runs);
  if (arguments.flag("json"))
    fmt::print("{}\n", fleet_json(fleet).dump(2, ' ', false, Json::error_handler_t::replace));
  else
    print_text(fleet, arguments.flag("all"));
  refuse_silence(fleet);
  if (arguments.given("html")) write_output(arguments.text("html"), render_fleet(fleet));
  return static_cast<int>(fleet.is_bad() ? ExitCode::regression : ExitCode::success);
}

}  // namespace

Verb fleet_verb() {
  return {
      .name = "fleet",
      .positional = "DIR...",
      .summary = "which of many GPUs of one model is slow, or computes other bits",
      .description =
          "Holds the runs of many GPUs of one model against each other, each DIR one GPU's run or a folder "
          "of them. Healthy GPUs differ, so one is called slow only when it is below 95 % of the fleet's "
          "performance, more than 3.5 robust standard deviations off, and so again in a second round "
          "(docs/how-it-works/statistics.md). Of a merged run, such as `mprof run --devices` makes, each GPU "
          "is one of "
          "them. Of a GPU that is there with several runs the newest counts, and is held "
          "against the earlier ones. Exits with 1 when one is slow, slower than it was, failed, or has other "
          "bits in its outputs.",
      .options = {{"all", "", "", "Show those that are ok as well."},
                  {.name = "history",
                   .argument = "DIR",
                   .default_value = "",
                   .meaning =
                       "Earlier runs of the same GPUs, or a folder of them; may be given several times.",
                   .repeatable = true},
                  {"html", "FILE", "", "Also write a page with a map of machines and times."},
                  {"json", "", "", "Print JSON, for monitoring, instead of text."}},
      .run = show_fleet};
}

}  // namespace mprof::cli
