#include <algorithm>
#include <cstdio>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/compare.hpp"
#include "cli/family_options.hpp"
#include "cli/interrupts.hpp"
#include "cli/options.hpp"
#include "cli/planned_run.hpp"
#include "cli/program_run.hpp"
#include "cli/progress.hpp"
#include "cli/suite_run.hpp"
#include "cli/terminal.hpp"
#include "device/device.hpp"
#include "kernels/registry.hpp"
#include "model/derive/derive.hpp"
#include "model/facts.hpp"
#include "model/run_file.hpp"
#include "report/views/summary.hpp"
#include "runner/coordinator.hpp"
#include "runner/devices.hpp"
#include "runner/result_directory.hpp"
#include "runner/tuning/tuned_file.hpp"
#include "system/error.hpp"

namespace mprof::cli {
namespace {

namespace fs = std::filesystem;

ResultDirectory::Mode mode_of(const Arguments& arguments) {
  if (arguments.flag("resume") && arguments.flag("overwrite")) {
    throw Error(ExitCode::usage,
                "--resume and --overwrite exclude each other: go on with the run, or replace it.");
  }
  if (arguments.flag("resume") && !arguments.given("out")) {
    throw Error(ExitCode::usage, "--resume needs --out DIR: the directory of the run to go on with.");
  }
  // A scheduler starts a shard anew with the command line that it began it with.
  const bool begins = arguments.given("shard") && !fs::exists(fs::path(arguments.text("out")) / "run.json");
  if (arguments.flag("resume") && !begins) return ResultDirectory::Mode::resume;
  return arguments.flag("overwrite") ? ResultDirectory::Mode::overwrite : ResultDirectory::Mode::create;
}

ExitCode exit_code_of(const Run& run) {
  if (run.state == RunState::interrupted) return ExitCode::interrupted;
  const auto failed = [](const PassResult& pass) {
    return pass.status != Status::ok && pass.status != Status::skipped;
  };
  const bool any = std::any_of(run.cases.begin(), run.cases.end(), [&](const Case& c) {
    return std::any_of(c.passes.begin(), c.passes.end(), failed);
  });
  return any ? ExitCode::wrong_output : ExitCode::success;
}

/// A run to compare with, read before anything is measured: a wrong name shall not cost an hour.
std::optional<Run> baseline_of(const Arguments& arguments) {
  if (!arguments.given("baseline")) return std::nullopt;
  return read_run(arguments.text("baseline"));
}

/// The devices of this machine of which there may be several, by their kind.
std::vector<DeviceUnit> present_units() {
  std::string obstacle = "this build of mprof has no CUDA";
  for (const Device* device : Devices::instance().all()) {
    if (device->id() == "cpu") continue;
    if (const auto reason = device->unavailable())
      obstacle = *reason;
    else if (std::vector<DeviceUnit> units = device->units(); !units.empty())
      return units;
  }
  throw Error(ExitCode::environment, fmt::format("--devices: there is no GPU to choose: {}.", obstacle));
}

/// Those of --devices; none: whichever the worker takes.
std::vector<DeviceUnit> units_of(const Arguments& arguments) {
  if (arguments.flag("share-host") && !arguments.given("devices"))
    throw Error(ExitCode::usage, "--share-host says how --devices measures: give both.");
  if (!arguments.given("devices")) return {};
  if (arguments.given("shard"))
    throw Error(ExitCode::usage,
                "--devices and --shard exclude each other: a shard runs on the one GPU that "
                "CUDA_VISIBLE_DEVICES leaves it.");
  return chosen_units(arguments.text("devices"), present_units());
}

std::vector<std::string> ids_of(const std::vector<DeviceUnit>& units) {
  std::vector<std::string> ids;
  for (const DeviceUnit& unit : units) ids.push_back(unit.id);
  std::ranges::sort(ids);
  return ids;
}

/// Those that the run goes on on: each share on the device that it began on.
std::vector<DeviceUnit> resumed_units(const Arguments& arguments, const Run& run, const fs::path& directory) {
  std::vector<DeviceUnit> units = units_of(arguments);
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
  if (units.empty()) units = chosen_units(fmt::format("{}", fmt::join(begun, ",")), present_units());
  if (ids_of(units) == begun) return units;
  throw Error(
      ExitCode::usage,
      fmt::format("{} goes on on the devices that it began on, {}, and not on {}. Leave --devices out, "
                  "or record a new run.",
                  directory.string(), fmt::join(begun, ", "), fmt::join(ids_of(units), ", ")));
}

std::vector<std::string> own_worker() {
  return {fs::read_symlink("/proc/self/exe").string(), "worker"};
}

int execute(Run& run, ResultDirectory& directory, const Arguments& arguments,
            const std::vector<DeviceUnit>& units, const std::optional<Run>& baseline) {
  const Interrupts interrupts;
  const auto progress = make_progress(style_of(arguments.flag("quiet")), steady_clock());
  CoordinatorContext context{own_worker(), directory,       steady_clock(),
                             *progress,    interrupts.fd(), !run.plan.fixed_rounds};
  if (units.size() > 1) {
    const std::optional<Run> earlier = earlier_run(arguments);
    coordinate_devices(run, units, arguments.flag("share-host"), earlier ? &*earlier : nullptr, context);
  } else {
    if (!units.empty()) context.worker_command = worker_on(units.front(), context.worker_command);
    coordinate(run, context);
  }
  derive(run, directory.path());
  if (!arguments.flag("quiet")) {
    std::fputs(render_summary(run, terminal_width()).c_str(), stdout);
    const std::string spent = units.size() > 1 ? render_spent_on_devices(run) : render_spent(run);
    std::fputs(spent.c_str(), stdout);
  }
  const ExitCode code = exit_code_of(run);
  const std::string path = directory.path().string();
  if (code == ExitCode::interrupted) {
    fmt::print("Interrupted; what was finished is in {}. Go on with: mprof run --resume --out {}\n", path,
               path);
  } else {
    fmt::print("Result: {}. Next: mprof report {}\n", path, path);
  }
  if (!baseline || code == ExitCode::interrupted) return static_cast<int>(code);
  const int compared = compare_with_baseline(*baseline, arguments.text("baseline"), path);
  return compared == 0 ? static_cast<int>(code) : compared;
}

int run(const Arguments& arguments) {
  remove_abandoned_folders();
  if (!arguments.program().empty()) return run_program(arguments);
  if (arguments.given("suite")) return run_suite(arguments);
  refuse_program_options(arguments);
  const ResultDirectory::Mode mode = mode_of(arguments);
  const std::optional<Run> baseline = baseline_of(arguments);
  Sources sources(arguments, arguments.flag("quiet"));
  if (mode == ResultDirectory::Mode::resume) {
    ResultDirectory directory(arguments.text("out"), mode);
    Run record = resumed_run(arguments, directory, sources);
    const std::vector<DeviceUnit> units = resumed_units(arguments, record, directory.path());
    directory.save_sources(record);  // of the same revision; the first attempt may not have come so far
    return execute(record, directory, arguments, units, baseline);
  }
  // Everything that can be wrong with the request is found before a directory is made.
  const std::vector<DeviceUnit> units = units_of(arguments);
  std::vector<std::string> worker = own_worker();
  if (!units.empty()) worker = worker_on(units.front(), worker);
  Run record = new_run(arguments, sources, worker);
  if (units.size() > 1) {  // each device is looked at by itself
    record.environment.clear();
    record.ceilings.clear();
  }
  const fs::path out = arguments.given("out")
                           ? fs::path(arguments.text("out"))
                           : default_result_path(record.started, Devices::instance().preferred().name());
  ResultDirectory directory(out, mode, {.resume = true, .overwrite = true});
  directory.save(record);  // first, so that kill -9 leaves a result directory and nothing else
  directory.save_sources(record);
  return execute(record, directory, arguments, units, baseline);
}

}  // namespace

Verb run_verb() {
  std::vector<Option> options = plan_options();
  const std::vector<Option> own{
      {"tuned", "FILE", "",
       "Take the values of parameters from this file of `mprof tune`, for the variants and problems that it "
       "holds; the others have their defaults. Refused, with what differs, where it was tuned on another "
       "GPU, "
       "driver, toolkit or source. Without a file: tuned.json.",
       false, Option::Origin::verb, tuned_file_name},
      {"out", "DIR", "results/<UTC time>-<device>", "The result directory."},
      {"resume", "", "",
       "Go on with the run in --out: what is finished stays. Options that say the same as its plan do no "
       "harm. With --shard, a run that has not begun is begun."},
      {"overwrite", "", "", "Replace the run in --out."},
      {"shard", "I/N", "",
       "Only the I-th of N shares of the plan's cases, each about as long as the others; none where there "
       "are "
       "more shards than cases. `mprof merge` makes one run of all of them."},
      {"devices", "LIST", "",
       "The GPUs to run on: all, or numbers (as CUDA counts them) and UUIDs with commas between, of one "
       "model. Several share the cases, all of a problem on the same one; the timing pass, which takes host "
       "times, has the host for itself, one GPU at a time; the other passes run at once. --resume goes on "
       "on the same ones."},
      {"share-host", "", "",
       "With --devices: take times on all GPUs at once. Shorter, but host times and copies disturb each "
       "other; the record says so, and the times of the GPU's own clock count."},
      {"baseline", "DIR", "",
       "Then compare the run in DIR with this one, as `mprof compare` does with its defaults, and exit so."},
      {"quiet", "", "", "Print only what goes wrong, and where the result is."},
  };
  options.insert(options.end(), own.begin(), own.end());
  options.push_back(
      {"suite", "FILE", "",
       "Run programs of yours that a suite describes, such as mprof.toml, as variants of a family of "
       "their own; --all or --variant says which. `mprof new suite` writes a first one."});
  std::ranges::move(program_options(), std::back_inserter(options));
  add_axis_options(options, Registry::instance(), AxisUse::sweep);
  add_input_options(options, Registry::instance());
  return {
      .name = "run",
      .positional = "",
      .summary = "run variants, verify and measure them, keep the record",
      .description =
          "Runs variants on several problems of their families in worker processes, verifies every output "
          "against a double-precision reference, measures them pass by pass, and leaves a result "
          "directory. Axes and inputs of the families are options too: the last ones below. Behind -- stands "
          "a "
          "program of yours instead, which is run as it is: timed without any tool in several rounds, and "
          "then "
          "watched; with --suite several of them, side by side.",
      .options = std::move(options),
      .run = run,
      .takes_program = true,
      .takes_sources = true};
}

}  // namespace mprof::cli
