#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "cli/family_options.hpp"
#include "cli/interrupts.hpp"
#include "cli/options.hpp"
#include "cli/progress.hpp"
#include "cli/saves.hpp"
#include "cli/sources.hpp"
#include "cli/suite_watch.hpp"
#include "cli/terminal.hpp"
#include "cli/values.hpp"
#include "model/derive/derive.hpp"
#include "model/metric_presets.hpp"
#include "model/version.hpp"
#include "report/analysis/judgement/compare.hpp"
#include "report/views/version_view.hpp"
#include "runner/coordinator.hpp"
#include "system/error.hpp"

namespace mprof::cli {
namespace {

namespace fs = std::filesystem;

/// The source, and what beside it it may be built from.
Stamp stamp_of(const fs::path& source) {
  Stamp stamp;
  add_sources(stamp, source.parent_path());
  return stamp;
}

/// Measures each version of a source that is saved.
class Watcher {
 public:
  explicit Watcher(const Arguments& arguments)
      : arguments_(arguments),
        source_(fs::absolute(arguments.text("FILE")).lexically_normal()),
        out_(arguments.given("out") ? fs::path(arguments.text("out"))
                                    : default_result_path(utc_now(), "watch")),
        rounds_(parse_rounds(arguments.text("rounds"))),
        sampling_time_(parse_seconds("sampling-time", arguments.text("sampling-time"))),
        timeout_(parse_seconds("timeout", arguments.text("timeout"))) {
    // What is wrong with the command is no version to wait for.
    if (!find_sources({source_.string()}).folders.empty()) {
      throw Error(ExitCode::usage,
                  fmt::format("{}: one variant is watched; name its file in the folder of its family.",
                              arguments.text("FILE")));
    }
    static_cast<void>(one_problem(arguments, *Registry::instance().families().front()));
    if (fs::exists(out_ / "1"))
      throw Error(ExitCode::usage,
                  fmt::format("--out {}: it holds versions already; name another directory.", out_.string()));
  }

  /// Until it is interrupted.
  void watch() {
    const Interrupts interrupts;  // of all versions, and of what is between them
    try {
      while (true) {
        const Stamp stamp = stamp_of(source_);
        const double saved = clock_.now();
        try {
          measure(saved);
        } catch (const Error& error) {
          if (error.code() == ExitCode::interrupted) throw;
          fmt::print("\n{}\nThis version is left out.\n", error.what());
        }
        fmt::print("Waiting for {} to be saved; Ctrl-C ends it.\n", arguments_.text("FILE"));
        std::fflush(stdout);
        wait_for_change(stamp, source_, [&] { return stamp_of(source_); });
      }
    } catch (const Error& error) {
      if (error.code() != ExitCode::interrupted) throw;
    }
    if (number_ == 0) {
      fmt::print("\nNo version was measured.\n");
    } else {
      fmt::print("\nMeasured {} of {}; each is a run in {}.\n",
                 number_ == 1 ? "1 version" : fmt::format("{} versions", number_), arguments_.text("FILE"),
                 out_.string());
    }
  }

 private:
  [[noreturn]] static void interrupted() { throw Error(ExitCode::interrupted, "interrupted"); }

  void measure(double saved) {
    const std::vector<PluginSource> built = build();
    std::vector<std::string> checksums;
    for (const PluginSource& source : built) checksums.push_back(source.checksum);
    if (checksums == checksums_) {
      fmt::print("It is built from what it was built from before.\n");
      return;
    }
    Run run = planned(built);
    run.environment = environment_;  // the machine is surveyed once
    run.ceilings = ceilings_;
    const fs::path path = out_ / std::to_string(number_ + 1);
    ResultDirectory directory(path, ResultDirectory::Mode::create);
    directory.save(run);
    directory.save_sources(run);
    {
      const Interrupts interrupts;
      const auto progress =
          make_progress(stderr_is_terminal() ? ProgressStyle::bar : ProgressStyle::quiet, clock_);
      const std::string program = fs::read_symlink("/proc/self/exe").string();
      coordinate(run, {{program, "worker"}, directory, clock_, *progress, interrupts.fd()});
    }
    if (run.state == RunState::interrupted) interrupted();
    environment_ = run.environment;
    ceilings_ = run.ceilings;
    ++number_;
    checksums_ = std::move(checksums);
    if (last_ && last_->inputs != run.inputs) last_.reset();  // of other work: nothing to hold it against
    derive(run, path);
    tell(std::move(run), clock_.now() - saved);
  }

  /// What was registered of earlier versions makes room.
  std::vector<PluginSource> build() {
    Registry& registry = Registry::instance();
    for (const PluginSource& source : registered_) {
      source.family.empty() ? registry.remove(source.variant) : registry.remove_family(source.family);
    }
    registered_.clear();
    std::vector<std::string> flags = split(arguments_.text("compiler-flags"), ' ');
    std::erase(flags, "");
    registered_ = sources_.load(
        {.patterns = {source_.string()}, .flags = std::move(flags), .baseline = arguments_.text("against")});
    return registered_;
  }

  [[nodiscard]] Run planned(const std::vector<PluginSource>& built) const {
    const Registry& registry = Registry::instance();
    const VariantInfo& info = registry.variant(built.front().variant)->info;
    RunRequest request;
    request.patterns = with_baselines(built, registry);
    request.sources = built;
    request.values = one_problem(arguments_, *registry.family(info.family));
    request.passes = {Pass::timing, Pass::trace, Pass::counters};
    request.metrics = preset_metrics("default");
    request.rounds = rounds_;
    request.seed = std::random_device{}();
    request.max_seconds = sampling_time_;
    request.timeout = timeout_;
    request.inputs = locate_inputs(arguments_, registry);
    Run run;
    run.tool = {version, revision};
    run.command_line = arguments_.command_line();
    run.started = utc_now();
    run.plan = make_plan(request, registry, Devices::instance());
    run.families = families_of(run.plan, registry);
    run.variants = variants_of(run.plan, registry);
    run.cases = make_cases(run.plan, registry);
    skip_unavailable(run.cases, registry, Devices::instance());
    run.inputs = validate_inputs(run, registry);
    return run;
  }

  /// The one of this variant.
  static const Case& case_of(const Run& run, const std::string& variant) {
    return *std::ranges::find_if(run.cases, [&](const Case& c) { return c.key.variant == variant; });
  }

  void tell(Run run, double seconds) {
    const std::string& id = run.plan.sources.front().variant;
    const std::string& baseline = Registry::instance().variant(id)->info.baseline;
    for (const std::string& variant : {baseline, id}) {
      const PassResult& timing = *find_pass(case_of(run, variant), Pass::timing);
      if (timing.status == Status::ok) continue;
      fmt::print("\nVersion {} of {}: {} is {}: {}. It is left out.\n", number_, arguments_.text("FILE"),
                 variant, to_string(timing.status), timing.reason);
      return;
    }
    const Comparison over = compare(run, run, {.pairing = {.of = baseline, .with = id}});
    std::optional<Comparison> since;
    if (last_) since = compare(*last_, run, {.pairing = {.of = id, .with = id}});
    std::fputs(render_version({.name = arguments_.text("FILE"),
                               .baseline = baseline,
                               .number = number_,
                               .before = last_number_,
                               .over = &over,
                               .since = since ? &*since : nullptr},
                              terminal_width())
                   .c_str(),
               stdout);
    fmt::print("{:.1f} s after it was saved; `mprof report {}` tells more.\n", seconds,
               (out_ / std::to_string(number_)).string());
    last_ = std::move(run);
    last_number_ = number_;
  }

  const Arguments& arguments_;
  const Clock& clock_ = steady_clock();
  fs::path source_;
  fs::path out_;
  std::uint32_t rounds_;
  double sampling_time_;  ///< s
  double timeout_;        ///< s
  Sources sources_{arguments_, false};
  std::vector<PluginSource> registered_;  ///< what the version that was built last registered
  Environment environment_;               ///< as surveyed for the first version
  std::vector<Ceiling> ceilings_;
  std::vector<std::string> checksums_;  ///< of the version that was measured last, and of what it needs
  std::size_t number_ = 0;              ///< of versions that were measured
  std::optional<Run> last_;             ///< of the last one that was right
  std::size_t last_number_ = 0;
};

int watch(const Arguments& arguments) {
  if (fs::path(arguments.text("FILE")).extension() == ".toml")
    watch_suite(arguments);
  else
    Watcher(arguments).watch();
  return static_cast<int>(ExitCode::success);
}

}  // namespace

Verb watch_verb() {
  std::vector<Option> options{
      {"against", "ID", "", "The variant that it is held against, instead of the baseline that it declares."},
      {"compiler-flags", "TEXT", "",
       "More options for the compiler, separated by blanks, such as '-lcublas'."},
      {"rounds", "N", "3", "Fresh processes in which each version and its baseline are timed."},
      {"sampling-time", "S", "1.5",
       "Longest that the samples of a case are taken, over all rounds, in seconds."},
      {"timeout", "S", "60", "Time limit of a case in one pass, in seconds."},
      {"out", "DIR", "results/<UTC time>-watch",
       "Where the run of each version is kept: DIR/1, DIR/2 and so on."},
  };
  add_axis_options(options, Registry::instance(), AxisUse::one);
  add_input_options(options, Registry::instance());
  return {
      .name = "watch",
      .positional = "FILE",
      .summary = "a source of your own, or a suite, measured each time you save it",
      .description =
          "Builds the source as `mprof run --source` does, verifies it, and measures it beside its "
          "baseline at "
          "one problem; prints the verdict, the change since the version before, and the first reason. "
          "Then it "
          "waits until the file, or a source or header beside it, is saved, and does so again. A version "
          "that "
          "does not compile, or is wrong, is told and costs nothing else: the next one is held against "
          "the last "
          "that was right. Each version is a run that the other verbs read. Ctrl-C ends it. FILE may be a "
          "suite, such as "
          "mprof.toml: its programs are built, verified and timed each time that it, a source beside it or a "
          "program is saved, each against its baseline.",
      .options = std::move(options),
      .run = watch,
      .takes_sources = true};
}

}  // namespace mprof::cli
