// SPDX-License-Identifier: MIT
#include "runner/devices.hpp"

#include <algorithm>
#include <exception>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/case_file.hpp"
#include "model/facts.hpp"
#include "model/run_file.hpp"
#include "runner/merge.hpp"
#include "runner/shards.hpp"
#include "runner/shared_progress.hpp"
#include "runner/survey.hpp"
#include "system/cpus.hpp"
#include "system/error.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

std::string listed(const std::vector<DeviceUnit>& units) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < units.size(); ++i)
    lines.push_back(fmt::format("{}: {} ({})", i, units[i].id, units[i].name));
  return fmt::format("{}", fmt::join(lines, ", "));
}

[[noreturn]] void refuse(const std::string& list, const std::string& what) {
  throw Error(ExitCode::usage, fmt::format("--devices {}: {}", list, what));
}

const DeviceUnit& named_unit(const std::string& list, const std::string& name,
                             const std::vector<DeviceUnit>& present) {
  constexpr std::size_t most_digits = 6;
  if (is_number(name)) {
    const std::size_t index = name.size() > most_digits ? present.size() : std::stoul(name);
    if (index < present.size()) return present[index];
  }
  std::vector<const DeviceUnit*> found;
  for (const DeviceUnit& unit : present) {
    if (!name.empty() && !is_number(name) && unit.id.starts_with(name)) found.push_back(&unit);
  }
  if (found.size() == 1) return *found.front();
  refuse(list, fmt::format("'{}' is {} of the devices here: {}.", name,
                           found.empty() ? "none" : "the beginning of several", listed(present)));
}

std::vector<std::string> ids_of(const std::vector<DeviceUnit>& units) {
  std::vector<std::string> ids;
  for (const DeviceUnit& unit : units) ids.push_back(unit.id);
  std::ranges::sort(ids);
  return ids;
}

/// A device's share of the run.
struct DeviceShare {
  DeviceUnit unit;
  std::unique_ptr<ResultDirectory> directory;
  Run run;
  std::vector<int> cpus{};  ///< that its coordinator and workers stay on; empty: any
  std::string beside{};     ///< what its host times are taken beside
  std::exception_ptr error{};
};

fs::path share_path(const fs::path& directory, const std::string& id) {
  return directory / devices_folder / id;
}

/// As it was left. What the whole run says of the plan, such as more rounds, goes for it too.
Run continued(const Run& run, const ResultDirectory& directory) {
  Run share = directory.load();
  const std::uint64_t seed = share.plan.seed;
  share.plan = run.plan;
  share.plan.seed = seed;
  share.inputs = run.inputs;
  return share;
}

std::vector<DeviceShare> shares_of(const Run& run, const std::vector<DeviceUnit>& units, const Run* earlier,
                                   const fs::path& directory) {
  const std::vector<std::string> begun = devices_of(run, directory);
  if (begun.empty()) fs::remove_all(directory / devices_folder);  // of a run that this one replaces
  const auto count = static_cast<std::uint32_t>(units.size());
  const std::vector<std::uint32_t> owners = assign_problems(run, count, earlier);
  std::vector<DeviceShare> shares;
  for (std::uint32_t i = 0; i < count; ++i) {
    const fs::path path = share_path(directory, units[i].id);
    const bool resumes = std::ranges::count(begun, units[i].id) > 0;
    const auto mode = resumes ? ResultDirectory::Mode::resume : ResultDirectory::Mode::create;
    DeviceShare share{units[i], std::make_unique<ResultDirectory>(path, mode), run};
    if (resumes) {
      share.run = continued(run, *share.directory);
    } else {
      share.run.shard = Shard{i + 1, count};
      share.run.cases.clear();
      for (std::size_t c = 0; c < run.cases.size(); ++c) {
        if (owners[c] == i + 1) share.run.cases.push_back(run.cases[c]);
      }
      share.directory->save(share.run);
    }
    shares.push_back(std::move(share));
  }
  return shares;
}

void announce(const std::vector<DeviceShare>& shares, Progress& progress) {
  std::size_t steps = 0;
  double work = 0;
  for (const DeviceShare& share : shares) {
    for (const Task& task : schedule(share.run)) {
      steps += task.cases.size();
      for (const std::size_t index : task.cases) work += work_of(share.run.cases[index]);
    }
  }
  progress.begin(steps, work);
}

/// Once, not once for each device. Where this is interrupted, so is everyone.
void survey_host(const std::vector<DeviceShare>& shares, const CoordinatorContext& context,
                 Progress& progress, SharedHost& host) {
  const bool is_known =
      std::ranges::none_of(shares, [](const DeviceShare& share) { return share.run.environment.empty(); });
  if (is_known) return;
  progress.surveying();
  Run surveyed{.variants = shares.front().run.variants};
  if (!survey_machine(surveyed, context.worker_command, context.clock, context.interrupt_fd, Surveyed::host))
    return;
  host.environment = std::move(surveyed.environment);
  host.ceilings = std::move(surveyed.ceilings);
}

/// What is said of host times that are taken beside others, and of CPUs of their own; nothing of a share that
/// has nothing to do, or is alone in that.
void divide_host(std::vector<DeviceShare>& shares) {
  std::vector<DeviceShare*> busy;
  std::vector<DeviceUnit> units;
  bool is_of_cpu = false;
  for (DeviceShare& share : shares) {
    if (schedule(share.run).empty()) continue;
    busy.push_back(&share);
    units.push_back(share.unit);
    is_of_cpu |= std::ranges::count(share.run.variants, "cpu", &VariantInfo::device) > 0;
  }
  if (busy.size() < 2) return;
  for (DeviceShare* share : busy)
    share->beside = fmt::format("{} devices of the host were measured side by side", busy.size());
  const auto cpus = is_of_cpu ? std::vector<std::vector<int>>() : cpus_of_each(units, allowed_cores());
  for (std::size_t i = 0; i < busy.size(); ++i) {
    if (!cpus.empty()) busy[i]->cpus = cpus[i];
  }
}

/// On CPUs of its own, if it has any and the kernel allows it.
void measure(DeviceShare& share, CoordinatorContext context) {
  const bool has_own_cpus = stay_on(share.cpus);
  context.host_disturbance = share.beside;
  if (!share.beside.empty())
    context.host_disturbance +=
        has_own_cpus ? ", each with CPUs of its own" : ", whose work counts as work of others";
  coordinate(share.run, context);
}

void measure_all(std::vector<DeviceShare>& shares, bool shares_host, const Run* earlier,
                 const CoordinatorContext& context) {
  ask_for_huge_pages();
  SharedProgress progress(context.progress);
  SharedHost host(static_cast<std::ptrdiff_t>(shares.size()));
  host.earlier = earlier;
  survey_host(shares, context, progress, host);
  if (shares_host) divide_host(shares);
  const auto measure_one = [&](DeviceShare& share) {
    try {
      CoordinatorContext own{worker_on(share.unit, context.worker_command),
                             *share.directory,
                             context.clock,
                             progress,
                             context.interrupt_fd,
                             context.adds_rounds};
      own.host = &host;
      measure(share, own);
    } catch (...) {
      share.error = std::current_exception();
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(shares.size());
  for (DeviceShare& share : shares) {
    try {
      threads.emplace_back([&] { measure_one(share); });
    } catch (const std::system_error&) {
      share.error = std::current_exception();
      host.all_timed.count_down();  // the others do not wait for it
    }
  }
  for (std::thread& thread : threads) thread.join();
  for (const DeviceShare& share : shares) {
    if (share.error) std::rethrow_exception(share.error);
  }
}

/// Makes the run of its shares, in memory and in its directory.
void merge_shares(Run& run, const std::vector<DeviceShare>& shares, ResultDirectory& directory) {
  std::vector<MergeSource> sources;
  for (const DeviceShare& share : shares) sources.push_back({share.directory->path(), share.run});
  Run whole = merged(sources, {.incomplete = true});
  whole.command_line = run.command_line;
  whole.started = run.started;
  whole.plan.seed = run.plan.seed;
  run = std::move(whole);
  fs::remove(directory.trace_file());  // of the shares as they were when this was interrupted
  Run unfinished = run;
  unfinished.state = RunState::running;
  directory.save(unfinished);
  for (const Case& c : run.cases) {
    if (has_results(c)) directory.save(c);
  }
  write_merged(run, sources, directory);
}

}  // namespace

std::vector<DeviceUnit> chosen_units(const std::string& list, const std::vector<DeviceUnit>& present) {
  std::vector<DeviceUnit> chosen;
  if (list == "all") {
    chosen = present;
  } else {
    for (std::size_t start = 0, end = 0; end != std::string::npos; start = end + 1) {
      end = list.find(',', start);
      const std::string name = list.substr(start, end == std::string::npos ? end : end - start);
      const DeviceUnit& unit = named_unit(list, name, present);
      if (std::ranges::count(chosen, unit) > 0) refuse(list, fmt::format("{} is named twice.", unit.id));
      chosen.push_back(unit);
    }
  }
  for (const DeviceUnit& unit : chosen) {
    if (unit.name != chosen.front().name)
      refuse(list,
             fmt::format("{} is of the model {} and {} of {}, whose times do not belong in one run: name "
                         "devices of one model.",
                         chosen.front().id, chosen.front().name, unit.id, unit.name));
  }
  return chosen;
}

std::vector<DeviceUnit> present_units(const Devices& devices) {
  std::string obstacle = "this build of mprof has no CUDA";
  for (const Device* device : devices.all()) {
    if (device->id() == "cpu") continue;
    if (const auto reason = device->unavailable())
      obstacle = *reason;
    else if (std::vector<DeviceUnit> units = device->units(); !units.empty())
      return units;
  }
  throw Error(ExitCode::environment, fmt::format("--devices: there is no GPU to choose: {}.", obstacle));
}

std::vector<DeviceUnit> units_to_go_on_with(const Run& run, const fs::path& directory,
                                            std::vector<DeviceUnit> units) {
  std::vector<std::string> begun = devices_of(run, directory);
  if (begun.empty() && !run.parts.empty() && !units.empty())
    throw Error(ExitCode::usage,
                fmt::format("{} was merged from {} runs: what is left of it goes on on one GPU, without "
                            "--devices. Or record a new run.",
                            directory.string(), run.parts.size()));
  if (begun.empty() && !run.environment.empty()) {
    const Fact* const uuid = find_fact(run.environment, fact::gpu, "UUID");
    if (!units.empty() && uuid != nullptr && std::holds_alternative<std::string>(*uuid))
      begun.push_back(std::get<std::string>(*uuid));
    else
      return units;
  }
  if (begun.empty()) return units;
  if (units.empty())
    units = chosen_units(fmt::format("{}", fmt::join(begun, ",")), present_units(Devices::instance()));
  if (ids_of(units) == begun) return units;
  throw Error(
      ExitCode::usage,
      fmt::format("{} goes on on the devices that it began on, {}, and not on {}. Leave --devices out, "
                  "or record a new run.",
                  directory.string(), fmt::join(begun, ", "), fmt::join(ids_of(units), ", ")));
}

std::vector<std::string> worker_on(const DeviceUnit& unit, const std::vector<std::string>& command) {
  std::vector<std::string> whole{"/usr/bin/env", unit.environment};
  std::ranges::copy(command, std::back_inserter(whole));
  return whole;
}

std::vector<std::vector<int>> cpus_of_each(std::span<const DeviceUnit> units,
                                           const std::vector<std::vector<int>>& cores) {
  using Cores = std::vector<std::vector<int>>;
  std::map<Cores, std::vector<std::size_t>> sharers;  // units by the cores near them
  for (std::size_t i = 0; i < units.size(); ++i) {
    Cores near;
    std::ranges::copy_if(cores, std::back_inserter(near), [&](const std::vector<int>& core) {
      return std::ranges::find(units[i].near_cpus, core.front()) != units[i].near_cpus.end();
    });
    sharers[near].push_back(i);
  }
  std::set<std::vector<int>> distinct;
  std::size_t count = 0;
  for (const auto& [near, units_near] : sharers) {
    distinct.insert(near.begin(), near.end());
    count += near.size();
  }
  if (sharers.contains({}) || distinct.size() < count) {  // not known of all, or no nodes
    sharers.clear();
    for (std::size_t i = 0; i < units.size(); ++i) sharers[cores].push_back(i);
  }
  std::vector<std::vector<int>> all(units.size());
  for (const auto& [near, units_near] : sharers) {
    const std::size_t part = near.size() / units_near.size();
    if (part == 0) return {};
    for (std::size_t i = 0; i < units_near.size() * part; ++i) {
      std::vector<int>& cpus = all[units_near[i / part]];
      cpus.insert(cpus.end(), near[i].begin(), near[i].end());
    }
  }
  return all;
}

std::vector<std::string> devices_of(const Run& run, const fs::path& directory) {
  std::vector<std::string> ids;
  std::size_t count = 0;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory / devices_folder, error)) {
    if (!fs::exists(entry.path() / "run.json", error)) continue;
    const Run share = read_record(entry.path());
    if (!share.shard || run_stamp(share) != run_stamp(run)) continue;
    ids.push_back(entry.path().filename().string());
    count = share.shard->count;
  }
  if (ids.size() < count) return {};  // killed before all of them were made, and so before anything ran
  std::ranges::sort(ids);
  return ids;
}

void coordinate_devices(Run& run, const std::vector<DeviceUnit>& units, bool shares_host, const Run* earlier,
                        const CoordinatorContext& context) {
  std::vector<DeviceShare> shares = shares_of(run, units, earlier, context.directory.path());
  announce(shares, context.progress);
  measure_all(shares, shares_host, earlier, context);
  context.progress.end();
  merge_shares(run, shares, context.directory);
}

}  // namespace mprof
