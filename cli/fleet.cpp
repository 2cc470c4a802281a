// SPDX-License-Identifier: MIT
#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/options.hpp"
#include "cli/terminal.hpp"
#include "report/materials/fleet_runs.hpp"
#include "report/page/fleet_page.hpp"
#include "report/page/fleet_text.hpp"
#include "report/views/views.hpp"
#include "system/error.hpp"
#include "system/files.hpp"

namespace mprof::cli {
namespace {

using Json = nlohmann::ordered_json;

void refuse_silence(const Fleet& fleet) {
  if (fleet.says_something()) return;
  if (!fleet.models.empty())
    throw Error(
        ExitCode::incomparable,
        "nothing was compared: no time is in the runs of five GPUs of one model. GPUs that divided the "
        "cases of one run (--devices, --shard) have different ones: run the same on each.");
  throw Error(ExitCode::incomparable,
              "nothing can be said of a fleet of fewer than five GPUs of one model without earlier runs of "
              "them: give the runs of more, or of other days with --history.");
}

int show_fleet(const Arguments& arguments) {
  const FleetRuns runs = read_fleet(arguments.texts("DIR..."), arguments.texts("history"));
  Fleet fleet = judge_fleet(runs.members);
  fleet.histories = read_histories(runs);
  if (arguments.flag("json"))
    fmt::print("{}\n", fleet_json(fleet).dump(2, ' ', false, Json::error_handler_t::replace));
  else
    print_readable(render_fleet_text(fleet, arguments.flag("all")));
  refuse_silence(fleet);
  if (arguments.given("html")) write_output(arguments.text("html"), render_fleet(fleet));
  return static_cast<int>(fleet.is_bad() ? ExitCode::regression : ExitCode::success);
}

}  // namespace

Verb fleet_verb() {
  return {
      .name = "fleet",
      .positional = "DIR...",
      .summary = "find the slow or faulty GPU among many of one model",
      .description =
          "Compares the runs of many GPUs of one model. Each DIR is one GPU's run or a folder of runs. A "
          "GPU is slow when it has less than 95 % of the fleet's performance, and is more than 3.5 robust "
          "standard deviations off. A second round must show both again. Each GPU of a merged run counts "
          "separately. If a GPU has several runs, the newest is judged and compared with the older ones. "
          "The exit code is 1 when a GPU is slow, slower than before, failed, or has other output bits.",
      .examples = {{"mprof fleet runs/*", "the GPUs that stand out"},
                   {"mprof fleet today --history last-week", "also compared with earlier runs"},
                   {"mprof fleet runs/* --html fleet.html", "a page with a map"}},
      .section = Section::cluster,
      .options = {{"all", "", "", "Also show the GPUs that are fine."},
                  {"history", "DIR", "",
                   "Earlier runs of the same GPUs, or a folder of them. May be repeated.", true},
                  {"html", "FILE", "", "Also write a page with a map of machines and times."},
                  {"json", "", "", "Print JSON, for monitoring."}},
      .run = show_fleet};
}

}  // namespace mprof::cli
