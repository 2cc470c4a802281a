#include "cli/suite_watch.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/family_options.hpp"
#include "cli/interrupts.hpp"
#include "cli/progress.hpp"
#include "cli/saves.hpp"
#include "cli/terminal.hpp"
#include "cli/values.hpp"
#include "inputs/suite_file.hpp"
#include "model/derive/derive.hpp"
#include "model/metric_presets.hpp"
#include "report/analysis/judgement/compare.hpp"
#include "report/views/version_view.hpp"
#include "runner/program/program_run.hpp"
#include "runner/suite/family.hpp"
#include "runner/suite/suite_run.hpp"
#include "system/error.hpp"

namespace mprof::cli {
namespace {

namespace fs = std::filesystem;

/// Measures each version of a suite and of its programs.
class SuiteWatcher {
 public:
  explicit SuiteWatcher(const Arguments& arguments)
      : arguments_(arguments),
        file_(fs::absolute(arguments.text("FILE")).lexically_normal()),
        out_(arguments.given("out") ? fs::path(arguments.text("out"))
                                    : default_result_path(utc_now(), "watch")) {
    for (const char* option : {"against", "compiler-flags", "sampling-time"}) {
      if (arguments.given(option))
        throw Error(
            ExitCode::usage,
            fmt::format("--{} is for a source: what a suite's programs are is said in the suite.", option));
    }
    static_cast<void>(read_suite(arguments.text("FILE")));  // what is wrong with it now is no version
    if (fs::exists(out_ / "1"))
      throw Error(ExitCode::usage,
                  fmt::format("--out {}: it holds versions already; name another directory.", out_.string()));
  }

  void watch() {
    const Interrupts interrupts;  // of all versions, and of what is between them
    try {
      while (true) {
        stamp_.clear();
        add_sources(stamp_, file_.parent_path());
        add_file(stamp_, file_);
        programs_.clear();
        const double saved = clock_.now();
        try {
          measure(saved);
        } catch (const Error& error) {
          if (error.code() == ExitCode::interrupted) throw;
          fmt::print("\n{}\nThis version is left out.\n", error.what());
        }
        for (const fs::path& program : programs_) add_file(stamp_, program);
        fmt::print("Waiting for {} to be saved, or its programs; Ctrl-C ends it.\n", arguments_.text("FILE"));
        std::fflush(stdout);
        wait_for_change(stamp_, file_, [&] { return look(); });
      }
    } catch (const Error& error) {
      if (error.code() != ExitCode::interrupted) throw;
    }
    fmt::print("\nMeasured {} of {}{}\n", number_ == 1 ? "1 version" : fmt::format("{} versions", number_),
               arguments_.text("FILE"),
               number_ == 0 ? "." : fmt::format("; each is a run in {}.", out_.string()));
  }

 private:
  [[nodiscard]] Stamp look() const {
    Stamp stamp;
    add_sources(stamp, file_.parent_path());
    add_file(stamp, file_);
    for (const fs::path& program : programs_) add_file(stamp, program);
    return stamp;
  }

  void measure(double saved) {
    const Suite suite = read_suite(arguments_.text("FILE"));
    Registry registry;
    register_suite(suite, registry);
    Run run = planned(suite, registry);
    const Interrupts interrupts;
    build_suite(suite, run.plan.variants, clock_, interrupts.fd(), [](const std::string& /*command*/) {});
    find_programs(suite, run);
    remember_programs(suite, run);
    if (run.plan.sources == sources_) {
      fmt::print("Nothing that is measured has changed.\n");
      return;
    }
    const fs::path path = out_ / std::to_string(number_ + 1);
    ResultDirectory directory(path, ResultDirectory::Mode::create);
    directory.save(run);
    const auto progress =
        make_progress(stderr_is_terminal() ? ProgressStyle::bar : ProgressStyle::quiet, clock_);
    const std::string self = fs::read_symlink("/proc/self/exe").string();
    measure_programs(run, {.worker_command = {self, "worker"},
                           .directory = directory,
                           .clock = clock_,
                           .progress = *progress,
                           .interrupt_fd = interrupts.fd(),
                           .program_of = [&](const Case& c) {
                             return program_of_suite(suite, run, c, clock_, interrupts.fd());
                           }});
    if (run.state == RunState::interrupted) throw Error(ExitCode::interrupted, "interrupted");
    environment_ = run.environment;
    ceilings_ = run.ceilings;
    sources_ = run.plan.sources;
    ++number_;
    derive(run, path);
    tell(run, clock_.now() - saved);
  }

  [[nodiscard]] Run planned(const Suite& suite, const Registry& registry) const {
    RunRequest request;
    request.all = true;
    request.devices = {"all"};
    request.values = one_problem(arguments_, *registry.family(suite.name));
    request.passes = ProgramRequest{}.passes;
    request.metrics = preset_metrics("default");
    request.rounds = parse_rounds(arguments_.text("rounds"));
    request.seed = std::random_device{}();
    request.timeout = parse_seconds("timeout", arguments_.text("timeout"));
    Run run = planned_suite_run(request, "", registry);
    run.command_line = arguments_.command_line();
    run.environment = environment_;  // the machine is surveyed once
    run.ceilings = ceilings_;
    return run;
  }

  /// Those that nothing builds are somebody's to save.
  void remember_programs(const Suite& suite, const Run& run) {
    for (const PluginSource& source : run.plan.sources) {
      if (suite.program(source.variant.substr(suite.name.size() + 1))->build.empty())
        programs_.emplace_back(source.library);
    }
  }

  void tell(const Run& run, double seconds) {
    for (const Case& c : run.cases) {
      const PassResult& timing = *find_pass(c, Pass::timing);
      if (timing.status != Status::ok)
        fmt::print("\n{} is {}: {}.\n", c.id, to_string(timing.status), timing.reason);
    }
    for (const VariantInfo& variant : run.variants) {
      if (variant.baseline.empty() || !is_ok(run, variant.id) || !is_ok(run, variant.baseline)) continue;
      const Comparison over = compare(run, run, {.pairing = {.of = variant.baseline, .with = variant.id}});
      const auto before = right_.find(variant.id);
      std::optional<Comparison> since;
      if (before != right_.end())
        since = compare(before->second.run, run, {.pairing = {.of = variant.id, .with = variant.id}});
      std::fputs(render_version({.name = variant.id,
                                 .baseline = variant.baseline,
                                 .number = number_,
                                 .before = since ? before->second.number : 0,
                                 .over = &over,
                                 .since = since ? &*since : nullptr},
                                terminal_width())
                     .c_str(),
                 stdout);
    }
    fmt::print("{:.1f} s after it was saved; `mprof report {}` tells more.\n", seconds,
               (out_ / std::to_string(number_)).string());
    for (const VariantInfo& variant : run.variants) {
      if (is_ok(run, variant.id)) right_[variant.id] = {number_, run};
    }
  }

  struct Version {
    std::size_t number = 0;
    Run run{};
  };

  static bool is_ok(const Run& run, const std::string& variant) {
    return std::ranges::any_of(run.cases, [&](const Case& c) {
      return c.key.variant == variant && find_pass(c, Pass::timing)->status == Status::ok;
    });
  }

  const Arguments& arguments_;
  const Clock& clock_ = steady_clock();
  fs::path file_;
  fs::path out_;
  Stamp stamp_;                     ///< of what was there when the version was begun
  std::vector<fs::path> programs_;  ///< that nothing builds
  Environment environment_;         ///< as surveyed for the first version
  std::vector<Ceiling> ceilings_;
  std::vector<PluginSource> sources_;     ///< of the version that was measured last
  std::size_t number_ = 0;                ///< of versions that were measured
  std::map<std::string, Version> right_;  ///< the last one of each program that was right
};

}  // namespace

void watch_suite(const Arguments& arguments) {
  SuiteWatcher(arguments).watch();
}

}  // namespace mprof::cli
