// SPDX-License-Identifier: MIT
#include "report/materials/fleet_runs.hpp"

#include <algorithm>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "model/parts.hpp"
#include "model/run_file.hpp"
#include "system/error.hpp"
#include "system/files.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;

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

}  // namespace

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

}  // namespace mprof
