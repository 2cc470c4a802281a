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
#include "model/run_file.hpp"
#include "runner/merge.hpp"
#include "runner/shards.hpp"
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

/// Takes what several coordinators tell to one that knows of one.
class SharedProgress final : public Progress {
 public:
  explicit SharedProgress(Progress& progress) : progress_(progress) {}
  /// Of the host and of each device.
  void surveying() override {
    const std::scoped_lock lock(mutex_);
    if (!std::exchange(is_surveying_, true)) progress_.surveying();
  }
  void case_begins(const Case& c, Pass pass) override {
    const std::scoped_lock lock(mutex_);
    progress_.case_begins(c, pass);
  }
  void case_goes_on(std::uint32_t samples) override {
    const std::scoped_lock lock(mutex_);
    progress_.case_goes_on(samples);
  }
  void case_ends(const Case& c, const PassResult& result) override {
    const std::scoped_lock lock(mutex_);
    progress_.case_ends(c, result);
  }
  void case_is_left_out(const Case& c) override {
    const std::scoped_lock lock(mutex_);
    progress_.case_is_left_out(c);
  }
  void case_is_added(const Case& c) override {
    const std::scoped_lock lock(mutex_);
    progress_.case_is_added(c);
  }

 private:
  Progress& progress_;
  std::mutex mutex_;
  bool is_surveying_ = false;
};

/// A device's share of the run.
struct DeviceShare {
  DeviceUnit unit;
  std::unique_ptr<ResultDirectory> directory;
  Run run;
  std::vector<int> cpus{};  ///< that its coordinator and workers stay on; empty: any
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

/// Gives each share CPUs of its own, unless there are too few or cases run on them, and says how host times
/// are taken then.
std::string divide_host(std::vector<DeviceShare>& shares) {
  std::string text = fmt::format("{} devices of the host were measured side by side", shares.size());
  std::vector<DeviceUnit> units;
  for (const DeviceShare& share : shares) units.push_back(share.unit);
  const std::vector<std::vector<int>> cpus = cpus_of_each(units, allowed_cpus());
  const std::vector<VariantInfo>& variants = shares.front().run.variants;
  if (cpus.empty() || std::ranges::count(variants, "cpu", &VariantInfo::device) > 0)
    return text + ", whose work counts as that of others";
  for (std::size_t i = 0; i < shares.size(); ++i) shares[i].cpus = cpus[i];
  return text + fmt::format(", each with {} of its CPUs", cpus.front().size());
}

void measure_all(std::vector<DeviceShare>& shares, bool shares_host, const CoordinatorContext& context) {
  ask_for_huge_pages();
  SharedProgress progress(context.progress);
  SharedHost host(static_cast<std::ptrdiff_t>(shares.size()));
  survey_host(shares, context, progress, host);
  const std::string beside = shares_host && shares.size() > 1 ? divide_host(shares) : "";
  const auto measure = [&](DeviceShare& share) {
    try {
      stay_on(share.cpus);
      CoordinatorContext own{worker_on(share.unit, context.worker_command),
                             *share.directory,
                             context.clock,
                             progress,
                             context.interrupt_fd,
                             context.adds_rounds};
      own.host_disturbance = beside;
      own.host = &host;
      coordinate(share.run, own);
    } catch (...) {
      share.error = std::current_exception();
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(shares.size());
  for (DeviceShare& share : shares) {
    try {
      threads.emplace_back([&] { measure(share); });
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

std::vector<std::string> worker_on(const DeviceUnit& unit, const std::vector<std::string>& command) {
  std::vector<std::string> whole{"/usr/bin/env", unit.environment};
  std::ranges::copy(command, std::back_inserter(whole));
  return whole;
}

std::vector<std::vector<int>> cpus_of_each(std::span<const DeviceUnit> units,
                                           const std::vector<int>& allowed) {
  std::map<std::vector<int>, std::vector<std::size_t>> sharers;  // units by the CPUs near them
  for (std::size_t i = 0; i < units.size(); ++i) {
    std::vector<int> near;
    std::ranges::copy_if(units[i].near_cpus, std::back_inserter(near),
                         [&](int cpu) { return std::ranges::find(allowed, cpu) != allowed.end(); });
    sharers[near].push_back(i);
  }
  std::set<int> distinct;
  std::size_t count = 0;
  for (const auto& [cpus, units_near] : sharers) {
    distinct.insert(cpus.begin(), cpus.end());
    count += cpus.size();
  }
  if (sharers.contains({}) || distinct.size() < count) {  // not known of all, or no nodes
    sharers.clear();
    for (std::size_t i = 0; i < units.size(); ++i) sharers[allowed].push_back(i);
  }
  std::vector<std::vector<int>> all(units.size());
  for (const auto& [cpus, units_near] : sharers) {
    const std::size_t part = cpus.size() / units_near.size();
    if (part == 0) return {};
    for (std::size_t i = 0; i < units_near.size(); ++i) {
      const auto first = cpus.begin() + static_cast<std::ptrdiff_t>(i * part);
      all[units_near[i]].assign(first, first + static_cast<std::ptrdiff_t>(part));
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
  measure_all(shares, shares_host, context);
  context.progress.end();
  merge_shares(run, shares, context.directory);
}

}  // namespace mprof
