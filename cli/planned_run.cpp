// SPDX-License-Identifier: MIT
#include "cli/planned_run.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "cli/compare.hpp"
#include "cli/family_options.hpp"
#include "cli/values.hpp"
#include "collectors/collector.hpp"
#include "device/device.hpp"
#include "inputs/checksum.hpp"
#include "kernels/registry.hpp"
#include "model/facts.hpp"
#include "model/metric_presets.hpp"
#include "model/run_file.hpp"
#include "model/version.hpp"
#include "runner/begin.hpp"
#include "runner/plan.hpp"
#include "runner/shards.hpp"
#include "runner/source/parts.hpp"
#include "runner/survey.hpp"
#include "runner/tuning/tuned_file.hpp"
#include "system/error.hpp"
#include "system/suggest.hpp"

namespace mprof::cli {
namespace {

namespace fs = std::filesystem;

std::vector<Pass> parse_passes(const std::string& text) {
  std::vector<Pass> passes;
  for (const std::string& part : split(text)) {
    Pass pass{};
    if (!from_string(part, pass)) {
      throw Error(ExitCode::usage,
                  fmt::format("--passes {}: there is no pass '{}'.{} The passes are timing, trace, "
                              "counters and source.",
                              text, part, did_you_mean(part, {"timing", "trace", "counters", "source"})));
    }
    if (std::find(passes.begin(), passes.end(), pass) == passes.end()) passes.push_back(pass);
  }
  return passes;
}

/// Those of `names` that the counters pass of a GPU does not know. A build without it knows the catalogue's.
std::vector<std::string> unknown_metrics(const std::vector<std::string>& names) {
  for (const CollectorKind* kind : CollectorKinds::instance().of(Pass::counters, "cuda")) {
    if (kind->unknown_metrics) return kind->unknown_metrics(names);
  }
  return not_in_catalogue(names);
}

[[noreturn]] void refuse_metrics(const std::string& text, const std::vector<std::string>& unknown) {
  std::vector<std::string> known = preset_names();
  for (const Metric& metric : hardware_metrics()) known.emplace_back(metric.id);
  const std::string& first = unknown.front();
  const bool bare = first.find("__") != std::string::npos && first.find('.') == std::string::npos &&
                    !is_launch_metric(first);
  throw Error(
      ExitCode::usage,
      fmt::format("--metrics {}: there is no metric '{}'.{}{} `mprof list --metrics` shows the presets and "
                  "their metrics.",
                  text, fmt::join(unknown, "', '"), did_you_mean(first, known),
                  bare ? " A counter's name ends with what is made of it, like .sum or .avg." : ""));
}

/// The metrics that names and presets stand for, each once.
std::vector<std::string> parse_metrics(const std::string& text) {
  std::vector<std::string> metrics;
  std::vector<std::string> names;
  for (const std::string& part : split(text)) {
    const std::vector<std::string> preset = preset_metrics(part);
    if (preset.empty()) names.push_back(part);
    for (const std::string& metric : preset.empty() ? std::vector{part} : preset) {
      if (std::find(metrics.begin(), metrics.end(), metric) == metrics.end()) metrics.push_back(metric);
    }
  }
  const std::vector<std::string> unknown =
      names.empty() ? std::vector<std::string>{} : unknown_metrics(names);
  if (!unknown.empty()) refuse_metrics(text, unknown);
  return metrics;
}

std::map<std::string, std::vector<std::string>> parse_settings(const std::vector<std::string>& texts) {
  std::map<std::string, std::vector<std::string>> settings;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
      throw Error(ExitCode::usage,
                  fmt::format("--set {}: give NAME=VALUE or NAME=VALUE,VALUE,... or NAME=* for all its "
                              "values.",
                              text));
    }
    for (std::string& value : split(text.substr(equals + 1)))
      settings[text.substr(0, equals)].push_back(std::move(value));
  }
  return settings;
}

/// nullopt: random.
std::optional<std::uint64_t> parse_seed(const std::string& text) {
  if (text == "random") return std::nullopt;
  const std::optional<std::uint64_t> seed = parse_whole(text);
  // JSON readers that keep numbers in doubles would change a larger one.
  constexpr std::uint64_t largest = std::uint64_t{1} << 53;
  if (!seed || *seed > largest) {
    throw Error(ExitCode::usage,
                fmt::format("--seed {}: give a whole number from 0 to 2^53, or `random`.", text));
  }
  return seed;
}

/// What the command line says, with the defaults of what it does not.
RunRequest parse_request(const Arguments& arguments, const std::vector<PluginSource>& sources) {
  RunRequest request = given_request(arguments, sources);
  if (!request.all && request.patterns.empty()) {
    throw Error(ExitCode::usage,
                "say what to run: --all, --variant GLOB (`mprof list` shows the variants), --source FILE, or "
                "a program after --, as in: mprof run -- ./program ARGUMENT");
  }
  if (request.passes.empty()) request.passes = parse_passes(arguments.text("passes"));
  if (!request.metrics.empty() && std::ranges::count(request.passes, Pass::counters) == 0) {
    throw Error(ExitCode::usage,
                "--metrics says what the counters pass reads, and --passes leaves that pass out.");
  }
  if (request.metrics.empty()) request.metrics = parse_metrics(arguments.text("metrics"));
  if (!request.seed) request.seed = std::random_device{}();
  if (!request.timeout) request.timeout = parse_seconds("timeout", arguments.text("timeout"));
  request.inputs = locate_inputs(arguments, Registry::instance());
  return request;
}

Shard parse_shard(const std::string& text) {
  constexpr std::uint64_t most = 100'000;
  const std::vector<std::string> parts = split(text, '/');
  const std::optional<std::uint64_t> index = parts.size() == 2 ? parse_whole(parts[0]) : std::nullopt;
  const std::optional<std::uint64_t> count = parts.size() == 2 ? parse_whole(parts[1]) : std::nullopt;
  if (!index || !count || *index < 1 || *index > *count || *count > most)
    throw Error(
        ExitCode::usage,
        fmt::format("--shard {}: give I/N, the I-th of N shards, from 1/N to N/N (N up to {}).", text, most));
  return {static_cast<std::uint32_t>(*index), static_cast<std::uint32_t>(*count)};
}

/// Takes the values of parameters from a file, of which nothing may be stale. The run knows its machine then.
void use_tuned(Run& run, const std::string& file, const std::vector<std::string>& worker_command) {
  const TunedFile tuned = read_tuned(file);
  fmt::print(stderr, "looking at this machine, for which {} must hold\n", file);
  static_cast<void>(survey_machine(run, worker_command, steady_clock(), -1));
  run.plan.tuned = tuning_of(tuned, file, run);
  run.plan.tuned->checksum = sha256_of_file(file);
  run.cases = make_cases(run.plan, Registry::instance());
}

/// Leaves the run with the cases of its shard alone.
void take_shard(Run& run, const Arguments& arguments) {
  if (arguments.given("balance-by") && !arguments.given("shard") && !arguments.given("devices"))
    throw Error(ExitCode::usage, "--balance-by says how --shard or --devices divides the cases: give both.");
  if (!arguments.given("shard")) return;
  run.shard = parse_shard(arguments.text("shard"));
  const std::optional<Run> earlier = earlier_run(arguments);
  run.cases = cases_of_shard(std::move(run.cases), *run.shard, earlier ? &*earlier : nullptr);
}

/// Times of two machines do not belong in one run. Looks at the CPU alone: a GPU's fingerprint would create a
/// context.
void refuse_other_machine(const Run& run, const ResultDirectory& directory) {
  const Environment here = Devices::instance().find("cpu")->fingerprint();
  for (const FactName& name : identifying_facts) {
    const Fact* recorded = find_fact(run.environment, name.group, name.name);
    const Fact* found = find_fact(here, name.group, name.name);
    if (recorded == nullptr || found == nullptr || *recorded == *found) continue;
    throw Error(ExitCode::incomparable,
                fmt::format("{} was recorded on another machine ({} {} differs): record a new run here.",
                            directory.path().string(), name.group, name.name));
  }
}

void refuse_other_build(const Run& run, const ResultDirectory& directory) {
  if (run.tool.revision == revision && run.tool.version == version) return;
  throw Error(
      ExitCode::incomparable,
      fmt::format("{} was made by mprof {} ({}), and this is {} ({}): their times do not belong in one run. "
                  "Record a new one, or resume with that build.",
                  directory.path().string(), run.tool.version, run.tool.revision, version, revision));
}

/// Whether a source may be in a plan without being named: it lies beside a family of the user's own.
bool came_along(const PluginSource& source, const Plan& plan) {
  const auto folder_of = [](const PluginSource& one) { return parts_of(one.path).front().parent_path(); };
  return std::ranges::any_of(plan.sources, [&](const PluginSource& other) {
    return !other.family.empty() && folder_of(other) == folder_of(source);
  });
}

bool chooses_variants(const Arguments& arguments) {
  return arguments.given("variant") || arguments.flag("all");
}

/// Those that a run is of, where it may be of some of them: of a folder, what --variant or --all names.
std::vector<PluginSource> sources_to_run(const Arguments& arguments,
                                         const std::vector<PluginSource>& sources) {
  if (!chooses_variants(arguments)) return sources;
  std::vector<PluginSource> left;
  const FoundSources named = find_sources(arguments.texts("source"));
  for (const PluginSource& source : sources) {
    const bool is_in_folder = std::ranges::any_of(named.folders, [&](const FamilyFolder& folder) {
      return fs::weakly_canonical(folder.family).parent_path() ==
             fs::weakly_canonical(parts_of(source.path).front()).parent_path();
    });
    if (!is_in_folder) left.push_back(source);
  }
  return left;
}

/// Whether a source has all of these files, the first one as its first. A single one may be a helper of it.
bool has_files(const PluginSource& source, const std::vector<fs::path>& files) {
  const std::vector<fs::path> parts = parts_of(source.path);
  return (files.size() == 1 || files.front() == parts.front()) &&
         std::ranges::all_of(files,
                             [&](const fs::path& file) { return std::ranges::count(parts, file) > 0; });
}

/// The plan's sources, if --source names them and no others: the record says how they are built.
std::vector<PluginSource> sources_named(const Arguments& arguments, const Plan& plan) {
  if (!arguments.given("source")) return {};
  std::vector<std::vector<fs::path>> named;
  for (const fs::path& source : find_sources(arguments.texts("source")).all()) {
    named.push_back(parts_of(source));
    for (fs::path& file : named.back()) file = fs::absolute(file).lexically_normal();
  }
  const bool is_of_all = !chooses_variants(arguments);
  const bool are_planned = std::ranges::all_of(named, [&](const std::vector<fs::path>& files) {
    return (!is_of_all && files.size() == 1) ||
           std::ranges::any_of(plan.sources, [&](const auto& source) { return has_files(source, files); });
  });
  const bool are_all_named = std::ranges::all_of(plan.sources, [&](const PluginSource& source) {
    return came_along(source, plan) || std::ranges::any_of(named, [&](const std::vector<fs::path>& files) {
             return files.front() == parts_of(source.path).front();
           });
  });
  if (are_planned && are_all_named) return plan.sources;
  std::vector<std::string> planned;
  for (const PluginSource& source : plan.sources) planned.push_back(source.path);
  throw Error(ExitCode::usage,
              fmt::format("--resume goes on with a run of other sources: {}. Leave --source out, or "
                          "record a new run.",
                          planned.empty() ? "none" : fmt::format("{}", fmt::join(planned, ", "))));
}

/// Takes note of what is to be read now, and refuses what changed since the run began.
void renew_inputs(Run& run) {
  for (InputFile& file : validate_inputs(run, Registry::instance())) {
    const auto before = std::ranges::find_if(run.inputs, [&](const InputFile& other) {
      return other.family == file.family && other.path == file.path;
    });
    if (before == run.inputs.end()) {
      run.inputs.push_back(std::move(file));
    } else if (before->checksum != file.checksum) {
      throw Error(ExitCode::incomparable,
                  fmt::format("{} has changed since the run began: record a new run, or bring the file back.",
                              file.path));
    }
  }
}

bool is_left(const Case& c) {
  const PassResult* const timing = find_pass(c, Pass::timing);
  return timing != nullptr && (timing->status == Status::pending || timing->status == Status::interrupted);
}

/// s, by the plan's limits. One execution may take longer than all of that.
double longest_sampling(const Plan& plan, std::size_t cases, int sides) {
  return sides * static_cast<double>(cases) * plan.rounds * plan.stopping.max_seconds;
}

}  // namespace

RunRequest measuring_request(const Arguments& arguments) {
  RunRequest request;
  request.values = axis_values(arguments);
  request.settings = parse_settings(arguments.texts("set"));
  if (arguments.given("passes")) request.passes = parse_passes(arguments.text("passes"));
  request.quick = arguments.flag("quick");
  if (arguments.given("rounds")) request.rounds = parse_rounds(arguments.text("rounds"));
  if (arguments.given("seed")) request.seed = parse_seed(arguments.text("seed"));
  if (arguments.given("sampling-time"))
    request.max_seconds = parse_seconds("sampling-time", arguments.text("sampling-time"));
  if (arguments.given("timeout")) request.timeout = parse_seconds("timeout", arguments.text("timeout"));
  request.inputs = named_inputs(arguments, Registry::instance());
  return request;
}

RunRequest given_request(const Arguments& arguments, const std::vector<PluginSource>& sources) {
  RunRequest request = measuring_request(arguments);
  request.all = arguments.flag("all");
  request.devices = split(arguments.text("device"));
  if (!request.devices.empty() && !request.all)
    throw Error(ExitCode::usage, "--device says which devices' variants --all takes: give both.");
  request.patterns = arguments.texts("variant");
  std::ranges::copy(with_baselines(sources_to_run(arguments, sources), Registry::instance()),
                    std::back_inserter(request.patterns));
  request.sources = sources;
  if (arguments.given("metrics")) request.metrics = parse_metrics(arguments.text("metrics"));
  request.hot = arguments.flag("hot");
  request.in_turns = arguments.knows("baseline-build") && arguments.given("baseline-build");
  return request;
}

std::vector<Option> plan_options() {
  std::vector<Option> options = in_group(
      "What to run",
      {{"all", "", "", "Run every variant of this machine's best device, or of --device."},
       chosen_from("cpu cuda all", {"device", "LIST", "",
                                    "With --all: run the variants of these devices: cpu, cuda, or all."}),
       {"variant", "GLOB", "", "Run the variants that match, like '*/cpu_*'.", true},
       {"set", "NAME=V,...", "",
        "Values of a parameter, in every selected variant that has it. Several values make a sweep. NAME=* "
        "takes all values. Several --set take every combination.",
        true}});
  add_source_options(options);
  append(
      options,
      in_group(
          "How long and how exactly",
          {{"quick", "", "", "Small problems and few repeats, with wider intervals."},
           {"hot", "", "", "Also time each op with warm caches. Default: only with cold caches."},
           chosen_from("timing trace counters source",
                       {"passes", "LIST", "timing,trace,counters,source", "The passes to run."}),
           {"metrics", "LIST", "default",
            "What the counters pass reads of each GPU kernel: metrics by Nsight Compute's names, or presets. "
            "The presets are sol, occupancy, memory, stalls, roofline, tensor, scheduler, compute and "
            "instructions; default means all of them."},
           {"rounds", "N", "",
            "Fresh processes in which each case is timed. Intervals and verdicts are about the next "
            "run, which one process cannot know. Default: 5, and up to 10 where that makes an "
            "interval narrow enough; 1 with --quick. With --resume, rounds are added."},
           {"sampling-time", "S", "",
            "Longest sampling of a case over all rounds, in seconds. Default: 15, with --quick 1.5. A "
            "slower case has one sample a round."},
           {"timeout", "S", "600", "Time limit of a case in one pass, in seconds."},
           {"seed", "N", "random", "Seed of the order of the cases. It is kept in the record."},
           {"balance-by", "DIR", "",
            "Divide the cases among shards by the times of this earlier run. Default: by the work of "
            "their ops."}}));
  return options;
}

std::optional<Run> earlier_run(const Arguments& arguments) {
  if (!arguments.given("balance-by")) return std::nullopt;
  return read_record(arguments.text("balance-by"));
}

Run planned_run(const Arguments& arguments, Sources& sources) {
  const Registry& registry = Registry::instance();
  Plan plan = make_plan(parse_request(arguments, sources.load(arguments)), registry, Devices::instance());
  plan.fixed_rounds = arguments.given("rounds");  // whoever says how many gets so many
  return begin_run(std::move(plan), registry, arguments.command_line());
}

Run new_run(const Arguments& arguments, Sources& sources, const std::vector<std::string>& worker_command) {
  Run run = planned_run(arguments, sources);
  if (arguments.given("tuned")) use_tuned(run, arguments.text("tuned"), worker_command);
  take_shard(run, arguments);
  prepare_run(run, Registry::instance());
  return run;
}

std::vector<Contradiction> plan_contradictions(const Arguments& arguments, const Run& run) {
  return contradictions(given_request(arguments, sources_named(arguments, run.plan)), run.plan,
                        Registry::instance(), Devices::instance());
}

void refuse_contradictions(const std::vector<Contradiction>& found, const std::string& directory) {
  if (found.empty()) return;
  const Contradiction& first = found.front();
  throw Error(ExitCode::usage,
              fmt::format("this goes on with {}, whose plan has {} for {}, not {}. Leave that out, or "
                          "record a new run.",
                          directory, first.planned, first.what, first.asked));
}

void refuse_other_maker(const Run& run, const ResultDirectory& directory) {
  refuse_other_build(run, directory);
  refuse_other_machine(run, directory);
}

Run resumed_run(const Arguments& arguments, const ResultDirectory& directory, Sources& sources) {
  Run run = directory.load();
  const bool is_suite = !run.plan.sources.empty();
  if (is_suite && std::ranges::any_of(run.variants, &VariantInfo::is_program)) {
    throw Error(ExitCode::usage,
                fmt::format("--resume: {0} is the run of a suite: mprof run --suite {1} --resume --out {0}",
                            directory.path().string(), run.plan.sources.front().path));
  }
  if (std::ranges::any_of(run.variants, &VariantInfo::is_program)) {
    throw Error(
        ExitCode::usage,
        fmt::format(
            "--resume: {} is the run of a program, which is made again: mprof run --overwrite --out {} "
            "-- PROGRAM ARGUMENT...",
            directory.path().string(), directory.path().string()));
  }
  if (run.in_turns)
    throw Error(
        ExitCode::usage,
        fmt::format("--resume: {} was measured in turns with another build, which cannot go on: record "
                    "a new run with --baseline-build.",
                    directory.path().string()));
  refuse_other_build(run, directory);
  sources.reload(run);
  std::vector<Contradiction> found = plan_contradictions(arguments, run);
  if (arguments.given("tuned") && (!run.plan.tuned || run.plan.tuned->file != arguments.text("tuned")))
    found.push_back({"tuned", arguments.text("tuned"), run.plan.tuned ? run.plan.tuned->file : "none"});
  if (arguments.given("shard") && run.shard != parse_shard(arguments.text("shard")))
    found.push_back({"shard", arguments.text("shard"),
                     run.shard ? fmt::format("{}/{}", run.shard->index, run.shard->count) : "none"});
  refuse_contradictions(found, directory.path().string());
  if (arguments.given("rounds")) {
    run.plan.rounds = parse_rounds(arguments.text("rounds"));
    run.plan.fixed_rounds = true;
  }
  refuse_other_machine(run, directory);
  skip_unavailable(run.cases, Registry::instance(), Devices::instance());
  renew_inputs(run);
  return run;
}

std::string outlook(const Arguments& arguments, const Run& run) {
  constexpr double short_time = 20;  // s, for which nobody plans
  const auto left = static_cast<std::size_t>(std::ranges::count_if(run.cases, is_left));
  const int sides = run.in_turns ? 2 : 1;
  const double longest = longest_sampling(run.plan, left, sides);
  if (left == 0 || longest < short_time) return "";
  std::string text = fmt::format("{} case{} in {} round{}: up to {} of sampling.", left, left == 1 ? "" : "s",
                                 run.plan.rounds, run.plan.rounds == 1 ? "" : "s", duration(longest));
  if (run.plan.quick || arguments.flag("resume")) return text;
  RunRequest request = parse_request(arguments, run.plan.sources);
  request.quick = true;
  const Registry& registry = Registry::instance();
  const Plan quick = make_plan(request, registry, Devices::instance());
  std::vector<Case> cases = make_cases(quick, registry);
  skip_unavailable(cases, registry, Devices::instance());
  const auto quick_left = static_cast<std::size_t>(std::ranges::count_if(cases, is_left));
  return text + fmt::format(" With --quick: {} case{}, up to {}.", quick_left, quick_left == 1 ? "" : "s",
                            duration(longest_sampling(quick, quick_left, sides)));
}

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

int compared_with(const std::optional<Run>& baseline, const Arguments& arguments, const std::string& path,
                  ExitCode code) {
  if (!baseline || code == ExitCode::interrupted) return static_cast<int>(code);
  const int compared = compare_with_baseline(*baseline, arguments.text("baseline"), path);
  return compared == 0 ? static_cast<int>(code) : compared;
}

}  // namespace mprof::cli
