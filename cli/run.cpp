// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "cli/baseline.hpp"
#include "cli/family_options.hpp"
#include "cli/json_answer.hpp"
#include "cli/measured_run.hpp"
#include "cli/options.hpp"
#include "cli/planned_run.hpp"
#include "cli/program_run.hpp"
#include "cli/suite_run.hpp"
#include "device/device.hpp"
#include "kernels/registry.hpp"
#include "runner/devices.hpp"
#include "runner/result_directory.hpp"
#include "runner/source/compiler.hpp"
#include "runner/tuning/tuned_file.hpp"
#include "runner/worker.hpp"
#include "system/error.hpp"

namespace mprof::cli {
namespace {

namespace fs = std::filesystem;

/// What --devices names; none: whichever the worker takes.
std::vector<DeviceUnit> units_of(const Arguments& arguments) {
  if (arguments.flag("share-host") && !arguments.given("devices"))
    throw Error(ExitCode::usage, "--share-host says how --devices measures: give both.");
  if (!arguments.given("devices")) return {};
  if (arguments.given("shard"))
    throw Error(ExitCode::usage,
                "--devices and --shard exclude each other: a shard runs on the one GPU that "
                "CUDA_VISIBLE_DEVICES leaves it.");
  return chosen_units(arguments.text("devices"), present_units(Devices::instance()));
}

int run(const Arguments& arguments) {
  remove_abandoned_folders();
  if (!arguments.program().empty()) return run_program(arguments);
  if (arguments.given("suite")) return run_suite(arguments);
  refuse_program_options(arguments);
  const ResultDirectory::Mode mode = mode_of(arguments);
  Baseline baseline = recorded_baseline(arguments);
  const std::optional<std::string> other_build = baseline_program(arguments);
  Sources sources(arguments, arguments.flag("quiet"));
  if (mode == ResultDirectory::Mode::resume) {
    ResultDirectory directory(arguments.text("out"), mode);
    Run record = resumed_run(arguments, directory, sources);
    const std::vector<DeviceUnit> units = units_to_go_on_with(record, directory.path(), units_of(arguments));
    directory.save_sources(record);  // of the same revision; the first attempt may not have come so far
    return measure_and_compare(record, directory, arguments, units, std::move(baseline));
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
  if (other_build) require_baseline_folder(out, mode);
  ResultDirectory directory(out, mode, {.resume = true, .overwrite = true});
  if (other_build) record.in_turns = true;
  directory.save(record);  // first, so that kill -9 leaves a result directory and nothing else
  directory.save_sources(record);
  if (other_build) baseline.build = begin_baseline(*other_build, record, out, mode);
  return measure_and_compare(record, directory, arguments, units, std::move(baseline));
}

}  // namespace

Verb run_verb() {
  std::vector<Option> options = plan_options();
  append(
      options,
      in_group("Where it runs, and what is kept",
               {{"out", "DIR", "results/<UTC time>-<device>", "The result directory."},
                {"resume", "", "",
                 "Go on with the run in --out: finished cases stay. Options may repeat what its plan says. "
                 "With --shard, a run that has not begun is started."},
                {"overwrite", "", "", "Replace the run in --out."},
                {"baseline", "DIR", "",
                 "After the run, compare the run in DIR with it, as `mprof compare` does by default. The "
                 "comparison decides the exit code."},
                {"baseline-build", "PROGRAM", "",
                 "Measure the same cases with this other build of mprof too, in turns: after each sample the "
                 "other build has its turn. Then compare the two. What slows the machine down affects both "
                 "sides, so that smaller changes are found. By default it takes five rounds, also with "
                 "--quick. Its record is in the folder baseline of --out."},
                {"quiet", "", "", "Print only what goes wrong, and where the result is."},
                json_answer_option(),
                {"tuned", "FILE", "",
                 "Take the values of parameters from this file of `mprof tune`, for the variants and "
                 "problems that it has. Values that were tuned on another GPU, driver, toolkit or source "
                 "are refused. Without a file: tuned.json.",
                 false, Option::Origin::verb, tuned_file_name}}));
  append(options,
         in_group("Several GPUs and machines",
                  {{"devices", "LIST", "",
                    "The GPUs to run on: all, or numbers as CUDA counts them, or UUIDs, separated by commas. "
                    "They must be of one model, and share the cases. Host times are taken on one GPU at a "
                    "time."},
                   {"share-host", "", "",
                    "With --devices: take times on all GPUs at once. This is shorter, but host times and "
                    "copies disturb each other, and the record says so."},
                   {"shard", "I/N", "",
                    "Run only the I-th of N shares of the cases, each about as long as the others. `mprof "
                    "merge` makes one run of all shares."}}));
  append(options, in_group("Your own programs",
                           {{"suite", "FILE", "",
                             "Run the programs that this suite describes, such as mprof.toml. Say with --all "
                             "or --variant which. `mprof new suite` writes a first one."}}));
  append(options, in_group("Your own programs", program_options()));
  add_axis_options(options, Registry::instance(), AxisUse::sweep);
  add_input_options(options, Registry::instance());
  return {
      .name = "run",
      .summary = "run variants or a program, verify and measure them, keep the record",
      .description =
          "Runs variants of a kernel in worker processes, compares every output with a double-precision "
          "reference, measures pass by pass, and keeps a result directory. To measure your own program, "
          "put it after `--`: mprof first times it without a profiler, in several rounds, and then traces "
          "it.",
      .examples = {{"mprof run --all --quick", "every variant of this machine's best device, briefly"},
                   {"mprof run --source my_kernel.cu --quick", "your own variant and its baseline"},
                   {"mprof run -- ./program ARGUMENT", "your own program, as it is"}},
      .section = Section::start,
      .options = std::move(options),
      .run = run,
      .takes_program = true,
      .takes_sources = true,
      .meant = [](const std::string& word) {
        if (is_source_name(word)) return fmt::format("To run a source: mprof run --source {}", word);
        if (word.ends_with(".toml")) return fmt::format("To run a suite: mprof run --suite {} --all", word);
        if (Registry::instance().variant(word) != nullptr)
          return fmt::format("To run a variant: mprof run --variant {}", word);
        return fmt::format(
            "To run a program: mprof run -- {}. A source of yours: --source FILE. A "
            "variant: --variant ID.",
            word);
      }};
}

}  // namespace mprof::cli
