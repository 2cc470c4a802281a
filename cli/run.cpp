#include <algorithm>
#include <cstdio>
#include <optional>
#include <random>
#include <set>

#include <fmt/format.h>

#include "cli/data_location.hpp"
#include "cli/interrupts.hpp"
#include "cli/options.hpp"
#include "cli/progress.hpp"
#include "cli/terminal.hpp"
#include "cli/values.hpp"
#include "collectors/collector.hpp"
#include "device/device.hpp"
#include "kernels/registry.hpp"
#include "model/metric_presets.hpp"
#include "model/version.hpp"
#include "report/views/summary.hpp"
#include "runner/coordinator.hpp"
#include "runner/plan.hpp"
#include "runner/result_directory.hpp"
#include "system/error.hpp"
#include "system/suggest.hpp"

namespace mprof::cli {
namespace {

namespace fs = std::filesystem;

std::vector<std::uint64_t> parse_batches(const std::string& text) {
  std::vector<std::uint64_t> batches;
  for (const std::string& part : split(text)) {
    const std::optional<std::uint64_t> batch = parse_whole(part);
    if (!batch) {
      throw Error(ExitCode::usage,
                  fmt::format("--batch {}: '{}' is not a number of images. Give whole numbers, like "
                              "--batch 100,1000.",
                              text, part));
    }
    batches.push_back(*batch);
  }
  return batches;
}

std::vector<Pass> parse_passes(const std::string& text) {
  std::vector<Pass> passes;
  for (const std::string& part : split(text)) {
    Pass pass{};
    if (!from_string(part, pass)) {
      throw Error(ExitCode::usage,
                  fmt::format("--passes {}: there is no pass '{}'.{} The passes are timing, trace and "
                              "counters.",
                              text, part, did_you_mean(part, {"timing", "trace", "counters"})));
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
  for (const std::string& part : text.empty() ? std::vector{text} : split(text)) {
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

std::uint64_t parse_seed(const std::string& text) {
  if (text == "random") return std::random_device{}();
  const std::optional<std::uint64_t> seed = parse_whole(text);
  // JSON readers that keep numbers in doubles would change a larger one.
  constexpr std::uint64_t largest = std::uint64_t{1} << 53;
  if (!seed || *seed > largest) {
    throw Error(ExitCode::usage,
                fmt::format("--seed {}: give a whole number from 0 to 2^53, or `random`.", text));
  }
  return *seed;
}

Selection parse_selection(const Arguments& arguments) {
  Selection selection;
  selection.all = arguments.flag("all");
  selection.patterns = arguments.texts("variant");
  if (!selection.all && selection.patterns.empty()) {
    throw Error(ExitCode::usage,
                "say what to run: --all, or --variant GLOB (`mprof list` shows the variants).");
  }
  selection.batches = parse_batches(arguments.text("batch"));
  selection.settings = parse_settings(arguments.texts("set"));
  selection.passes = parse_passes(arguments.text("passes"));
  selection.metrics = parse_metrics(arguments.text("metrics"));
  if (arguments.given("metrics") && std::ranges::count(selection.passes, Pass::counters) == 0) {
    throw Error(ExitCode::usage,
                "--metrics says what the counters pass reads, and --passes leaves that pass out.");
  }
  selection.quick = arguments.flag("quick");
  selection.hot = arguments.flag("hot");
  selection.seed = parse_seed(arguments.text("seed"));
  selection.timeout = parse_timeout(arguments.text("timeout"));
  selection.data = locate_data(arguments.text("data"), arguments.text("weights"));
  return selection;
}

/// Missing or corrupt inputs end the run before it begins, unless nothing would read them.
void validate_inputs(const Run& run) {
  std::set<std::string> families;
  for (const Case& c : run.cases) {
    const bool runs = std::any_of(c.passes.begin(), c.passes.end(),
                                  [](const PassResult& pass) { return pass.status == Status::pending; });
    if (runs) families.insert(find_variant(run, c.key.variant)->family);
  }
  for (const std::string& family : families) {
    Registry::instance().family(family)->validate({run.plan.images, run.plan.weights});
  }
}

Run new_run(const Arguments& arguments) {
  const Registry& registry = Registry::instance();
  Run run;
  run.tool = {version, revision};
  run.command_line = arguments.command_line();
  run.started = utc_now();
  run.plan = make_plan(parse_selection(arguments), registry, Devices::instance());
  run.variants = variants_of(run.plan, registry);
  run.cases = make_cases(run.plan, registry);
  skip_unavailable(run.cases, registry, Devices::instance());
  validate_inputs(run);
  return run;
}

/// The options that a resumed run takes from its record.
constexpr std::array planning_options{"all",    "variant", "batch", "set",     "quick", "hot",
                                      "passes", "metrics", "seed",  "timeout", "data",  "weights"};

/// Times of two machines do not belong in one run. Looks at the CPU alone: a GPU's fingerprint would create a
/// context.
void refuse_other_machine(const Run& run, const ResultDirectory& directory) {
  const Environment here = Devices::instance().find("cpu")->fingerprint();
  for (const char* name : {"model", "cores"}) {
    const Fact* recorded = find_fact(run.environment, "cpu", name);
    const Fact* found = find_fact(here, "cpu", name);
    if (recorded == nullptr || found == nullptr || *recorded == *found) continue;
    throw Error(ExitCode::incomparable,
                fmt::format("{} was recorded on another machine (cpu {} differs): record a new run here.",
                            directory.path().string(), name));
  }
}

/// The record of a run to go on with, ready to go on.
Run resumed_run(const Arguments& arguments, const ResultDirectory& directory) {
  for (const char* option : planning_options) {
    if (!arguments.given(option)) continue;
    throw Error(ExitCode::usage, fmt::format("--resume takes the plan from {}; leave --{} out.",
                                             (directory.path() / "run.json").string(), option));
  }
  Run run = directory.load();
  if (run.tool.revision != revision || run.tool.version != version) {
    throw Error(
        ExitCode::incomparable,
        fmt::format(
            "{} was made by mprof {} ({}), and this is {} ({}): their times do not belong in one run. "
            "Record a new one, or resume with that build.",
            directory.path().string(), run.tool.version, run.tool.revision, version, revision));
  }
  refuse_other_machine(run, directory);
  skip_unavailable(run.cases, Registry::instance(), Devices::instance());
  validate_inputs(run);
  return run;
}

ResultDirectory::Mode mode_of(const Arguments& arguments) {
  if (arguments.flag("resume") && arguments.flag("overwrite")) {
    throw Error(ExitCode::usage,
                "--resume and --overwrite exclude each other: go on with the run, or replace it.");
  }
  if (arguments.flag("resume") && !arguments.given("out")) {
    throw Error(ExitCode::usage, "--resume needs --out DIR: the directory of the run to go on with.");
  }
  if (arguments.flag("resume")) return ResultDirectory::Mode::resume;
  return arguments.flag("overwrite") ? ResultDirectory::Mode::overwrite : ResultDirectory::Mode::create;
}

ProgressStyle style_of(const Arguments& arguments) {
  if (arguments.flag("quiet")) return ProgressStyle::quiet;
  return stderr_is_terminal() ? ProgressStyle::bar : ProgressStyle::lines;
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

int execute(Run& run, ResultDirectory& directory, const Arguments& arguments) {
  const Interrupts interrupts;
  const auto progress = make_progress(style_of(arguments), steady_clock());
  const std::string program = fs::read_symlink("/proc/self/exe").string();
  coordinate(run, {{program, "worker"}, directory, steady_clock(), *progress, interrupts.fd()});
  if (!arguments.flag("quiet")) std::fputs(render_summary(run, terminal_width()).c_str(), stdout);
  const ExitCode code = exit_code_of(run);
  const std::string path = directory.path().string();
  if (code == ExitCode::interrupted) {
    fmt::print("Interrupted; what was finished is in {}. Go on with: mprof run --resume --out {}\n", path,
               path);
  } else {
    fmt::print("Result: {}. Next: mprof report {}\n", path, path);
  }
  return static_cast<int>(code);
}

int run(const Arguments& arguments) {
  const ResultDirectory::Mode mode = mode_of(arguments);
  if (mode == ResultDirectory::Mode::resume) {
    ResultDirectory directory(arguments.text("out"), mode);
    Run record = resumed_run(arguments, directory);
    directory.save_sources(
        record.variants);  // of the same revision; the first attempt may not have come so far
    return execute(record, directory, arguments);
  }
  // Everything that can be wrong with the request is found before a directory is made.
  Run record = new_run(arguments);
  const fs::path out = arguments.given("out")
                           ? fs::path(arguments.text("out"))
                           : default_result_path(record.started, Devices::instance().preferred().name());
  ResultDirectory directory(out, mode);
  directory.save(record);  // first, so that kill -9 leaves a result directory and nothing else
  directory.save_sources(record.variants);
  return execute(record, directory, arguments);
}

}  // namespace

Verb run_verb() {
  return {
      .name = "run",
      .positional = "",
      .summary = "run variants, verify and measure them, keep the record",
      .description =
          "Runs kernel variants at several batch sizes in worker processes, checks every output against a\n"
          "double-precision reference, measures them pass by pass, and leaves a result directory.",
      .options =
          {
              {"all", "", "", "Run every variant of this machine's best device."},
              {"variant", "GLOB", "", "Run the variants that match, like 'conv/cpu_*'.", true},
              {"batch", "LIST", "",
               "Batch sizes, like 100,1000; without it the family's own: 100,1000,5000,10000, with --quick "
               "100,1000."},
              {"set", "NAME=V,...", "",
               "Values of a parameter, in every selected variant that has one of this name; several values "
               "make a "
               "sweep, NAME=* takes all values of each variant, several --set every combination.",
               true},
              {"quick", "", "",
               "Small batches and few repeats: minutes become seconds, and intervals wider."},
              {"hot", "", "",
               "Also time each op with what the one before has left in the caches; without it only cold."},
              {"passes", "LIST", "timing,trace,counters", "Which passes to run."},
              {"metrics", "LIST", "default",
               "What the counters pass reads of each GPU kernel: presets (sol, occupancy, memory, stalls, "
               "roofline, "
               "tensor; default is these six; scheduler, compute; all) and Nsight Compute's metric names."},
              {"out", "DIR", "results/<UTC time>-<device>", "The result directory."},
              {"resume", "", "", "Go on with the run in --out: what is finished stays."},
              {"overwrite", "", "", "Replace the run in --out."},
              {"seed", "N", "random", "Seed of the order in which cases run; it is kept in the record."},
              {"timeout", "S", "600", "Time limit of a case in one pass, in seconds."},
              {"data", "DIR", "",
               "Folder with the Fashion-MNIST files; else MPROF_DATA, else where Debian puts them."},
              {"weights", "FILE", "",
               "Weights (safetensors); else MPROF_WEIGHTS, else those that come with mprof."},
              {"quiet", "", "", "Print only what goes wrong, and where the result is."},
          },
      .run = run,
  };
}

}  // namespace mprof::cli
