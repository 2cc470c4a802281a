// SPDX-License-Identifier: MIT
#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "cli/family_options.hpp"
#include "cli/interrupts.hpp"
#include "cli/json_answer.hpp"
#include "cli/options.hpp"
#include "cli/planned_run.hpp"
#include "cli/progress.hpp"
#include "cli/sources.hpp"
#include "cli/tuning_answer.hpp"
#include "cli/tuning_request.hpp"
#include "cli/values.hpp"
#include "report/text/format.hpp"
#include "runner/source/compiler.hpp"
#include "runner/tuning/point_search.hpp"
#include "runner/tuning/tuned_file.hpp"
#include "runner/worker.hpp"
#include "system/error.hpp"
#include "system/files.hpp"
#include "system/shell.hpp"

namespace mprof::cli {
namespace {

namespace fs = std::filesystem;

/// The exit code when nothing is interrupted.
ExitCode finish(TuningAnswer& answer, const fs::path& file) {
  answer.print();
  if (answer.had_no_time()) {
    print_wrapped(fmt::format("\nNo point was measured by then: {} is as it was. Give a longer --budget.",
                              file.string()));
    return ExitCode::wrong_output;  // there is none
  }
  if (!answer.has_best()) {
    print_wrapped(fmt::format("\nNo point gave what is asked for with a right output: {} is as it was.",
                              file.string()));
    return answer.has_wrong_outputs() ? ExitCode::wrong_output : ExitCode::usage;
  }
  answer.keep(file);
  return ExitCode::success;
}

/// Where the answer goes, which shall not cost a search where it cannot be written or read.
fs::path tuned_file(const Arguments& arguments) {
  fs::path file = arguments.text("tuned");
  std::error_code error;
  if (fs::exists(file, error)) static_cast<void>(read_tuned(file));
  require_writable(file);
  return file;
}

std::string why_ended(const Arguments& arguments, const PointSearch& search) {
  if (search.was_interrupted()) return "It was interrupted.";
  return search.was_out_of_time()
             ? fmt::format("The budget of {} s ended the search.", arguments.text("budget"))
             : "";
}

/// The options of `mprof run` that choose the variant.
std::string chosen_by(const Arguments& arguments) {
  const std::string name = shell_quoted(arguments.text("VARIANT"));
  std::string options;
  if (arguments.given("precision")) options += fmt::format("--precision {} ", arguments.text("precision"));
  if (is_source_name(arguments.text("VARIANT"))) return options + "--source " + name;
  for (const std::string& source : arguments.texts("source"))
    options += fmt::format("--source {} ", shell_quoted(source));
  return options + "--variant " + name;
}

int interrupted(TuningAnswer& answer, const fs::path& file, const fs::path& out) {
  answer.print();
  print_wrapped(fmt::format("\nInterrupted: nothing is kept in {}. What was measured: mprof report {}",
                            file.string(), out.string()));
  return static_cast<int>(ExitCode::interrupted);
}

int tune(const Arguments& arguments) {
  const bool quiet = arguments.flag("quiet");
  JsonAnswer json(arguments.flag("json"));
  Sources sources(arguments, quiet);
  Run run = search_run(arguments, sources);
  const SearchSettings settings = parse_search(arguments, run.plan.seed);
  std::optional<double> budget;
  if (arguments.given("budget")) budget = parse_seconds("budget", arguments.text("budget"));
  const fs::path file = tuned_file(arguments);
  std::optional<Objective> objective = objective_of(arguments, run);
  const std::uint32_t rounds = run.plan.rounds;
  const fs::path out =
      arguments.given("out") ? fs::path(arguments.text("out")) : default_result_path(run.started, "tune");
  const auto mode =
      arguments.flag("overwrite") ? ResultDirectory::Mode::overwrite : ResultDirectory::Mode::create;
  const Interrupts interrupts;
  const auto progress = make_progress(style_of(quiet), steady_clock());
  std::string what = "search";
  const TuningBench bench{own_worker(), steady_clock(), *progress, interrupts.fd(),
                          [&](std::size_t points, std::uint32_t in_rounds) {
                            if (!quiet)
                              fmt::print(stderr, "{}: {}, {}\n", what, format::plural(points, "point"),
                                         format::plural(in_rounds, "round"));
                          }};
  PointSearch search(std::move(run), out, mode, bench, Registry::instance());
  std::error_code ignored;  // there are none, mostly
  if (mode == ResultDirectory::Mode::overwrite) fs::remove_all(out / finals_folder, ignored);
  search.run(settings, budget, costs_by(objective));
  if (!objective) objective = usual_objective(search.seen());
  TuningAnswer answer(search, *objective, chosen_by(arguments), arguments.text("strategy"),
                      why_ended(arguments, search));
  if (search.was_interrupted()) return interrupted(answer, file, out);
  if (answer.has_values()) {
    what = "once more, side by side";
    Finals finals(search, answer.finals(), rounds, bench);
    finals.run(!arguments.given("rounds"));
    if (finals.was_interrupted()) return interrupted(answer, file, out);
    answer.take(finals.seen());
  }
  const ExitCode code = finish(answer, file);
  print_wrapped(
      code == ExitCode::success
          ? fmt::format("Result: {0}. Next: mprof report {0} (the search, as a sweep), mprof report "
                        "{0}/{1} (the best points alone)",
                        out.string(), finals_folder)
          : fmt::format("Result: {0}. Next: mprof report {0}", out.string()));
  json.print("mprof.tune/1",
             {{"run", out.string()},
              {"file", file.string()},
              {"kept", code == ExitCode::success ? answer.kept() : nlohmann::ordered_json()}});
  return static_cast<int>(code);
}

}  // namespace

Verb tune_verb() {
  std::vector<Option> options = in_group(
      "The search",
      {{"set", "NAME=V,...", "",
        "The values of a parameter to search. One value fixes it, and the answer holds for that value. "
        "Default: all values that the variant declares.",
        true},
       {"objective", "METRIC[:OP]", "",
        "Metric to optimize, of one op or of all: op_time, group_time:OP, total_time, a quality or a "
        "hardware counter. Default: op_time, or group_time where an op time omits work."},
       {"strategy", "NAME", "grid",
        "grid: every point. random: some points. halving: every point briefly, then the better half for "
        "twice as long, until at most four are left."},
       {"points", "N", "60",
        "With random: the number of points. With 60, the best of them is among the best 5 % of all with a "
        "probability of 95 %."},
       {"search-rounds", "N", "1", "With grid or random: fresh processes in which each point is timed."},
       {"budget", "S", "",
        "Longest time of the search, in seconds. It does not include the survey of the machine before it and "
        "the final measurement after it."}});
  append(
      options,
      in_group("How long it measures",
               {{"rounds", "N", "",
                 "Fresh processes in which the best points are measured again. Default: 5, and up to 10 "
                 "where that makes an interval narrow enough; 3 with --quick."},
                {"quick", "", "", "A small problem and few repeats, with wider intervals."},
                {"passes", "LIST", "timing",
                 "Further passes, where the objective comes from one: timing,trace. A counter adds its own."},
                {"seed", "N", "random", "Seed of the points and of their order. It is kept in the record."},
                {"sampling-time", "S", "",
                 "Longest sampling of a point in five rounds, in seconds. Default: 15, with --quick 1.5."},
                {"timeout", "S", "600", "Time limit of a point in one round, in seconds."}}));
  append(
      options,
      in_group(
          "Where it is kept",
          {{"tuned", "FILE", tuned_file_name,
            "The file of the answer. It keeps one answer for each variant, problem, objective and machine."},
           {"out", "DIR", "results/<UTC time>-tune", "The result directory of the search."},
           {"overwrite", "", "", "Replace what is in --out."},
           {"quiet", "", "", "Print only what goes wrong, and the answer."},
           json_answer_option()}));
  add_source_options(options);
  std::erase_if(options, [](const Option& option) { return option.name == "against"; });
  add_axis_options(options, Registry::instance(), AxisUse::largest);
  add_input_options(options, Registry::instance());
  return {.name = "tune",
          .positional = "VARIANT",
          .summary = "search the best values of a variant's parameters, and keep them",
          .description =
              "Measures points of a variant's parameters at one problem and verifies every output. Then it "
              "measures the best points again, side by side, in fresh processes. The answer has an interval "
              "and the points that are statistically tied with it. It is kept in tuned.json for this GPU, "
              "driver, toolkit and source; `mprof run --tuned` uses it. docs/guides/tune.md explains it.",
          .examples = {{"mprof tune VARIANT --quick", "all its parameters, briefly"},
                       {"mprof tune VARIANT --set NAME=VALUE,VALUE", "some values of one parameter"},
                       {"mprof tune my_kernel.cu --strategy halving", "your own variant"}},
          .section = Section::compare,
          .options = std::move(options),
          .run = tune,
          .takes_sources = true};
}

}  // namespace mprof::cli
