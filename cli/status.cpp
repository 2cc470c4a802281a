// SPDX-License-Identifier: MIT
#include <chrono>
#include <cstdio>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/options.hpp"
#include "cli/values.hpp"
#include "report/text/format.hpp"
#include "runner/cluster/overview.hpp"
#include "system/error.hpp"

namespace mprof::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string moment(double seconds_from_now) {
  const auto end =
      std::chrono::system_clock::now() + std::chrono::seconds(static_cast<std::int64_t>(seconds_from_now));
  return fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(std::chrono::system_clock::to_time_t(end)));
}

void print_text(const RunOverview& overview, const std::string& directory) {
  fmt::print("{:<9} {:<9} {:>7} {:>7} {:>7}\n", "Shard", "State", "Done", "Failed", "Left");
  const auto row = [](const std::string& name, std::string_view state, const ShardProgress& shard) {
    const std::string left = shard.has_known_cases ? std::to_string(shard.left()) : "?";
    const std::string note = format::one_line(shard.note);
    fmt::print("{:<9} {:<9} {:>7} {:>7} {:>7}{}{}\n", name, state, shard.done, shard.failed, left,
               note.empty() ? "" : "  ", note);
  };
  for (const ShardProgress& shard : overview.shards)
    row(fmt::format("{}/{}", shard.shard.index, shard.shard.count), to_string(shard.state), shard);
  row("all", "", sum_of(overview));
  for (const ShardProgress& shard : overview.shards) {
    for (const std::string& failure : shard.failures) fmt::print("failed: {}\n", format::one_line(failure));
  }
  if (!overview.silence.empty())
    fmt::print("What its jobs do is not known, Slurm does not answer: {}\n",
               format::one_line(overview.silence));
  if (const auto left = seconds_left(overview.shards))
    fmt::print("About {} left, until {}.\n", duration(*left), moment(*left));
  for (const std::string& next : {next_step(overview, directory), how_to_begin(overview, directory)}) {
    if (!next.empty()) fmt::print("{}\n", next);
  }
}

Json to_json(const RunOverview& overview) {
  Json shards = Json::array();
  for (const ShardProgress& shard : overview.shards) {
    shards.push_back({{"index", shard.shard.index},
                      {"count", shard.shard.count},
                      {"path", shard.path.string()},
                      {"state", to_string(shard.state)},
                      {"note", shard.note},
                      {"cases", shard.has_known_cases ? Json(shard.cases) : Json()},
                      {"done", shard.done},
                      {"failed", shard.failed},
                      {"left", shard.has_known_cases ? Json(shard.left()) : Json()},
                      {"failures", shard.failures}});
  }
  const ShardProgress sum = sum_of(overview);
  Json json{{"schema", "mprof.status/1"}, {"shards", std::move(shards)},
            {"done", sum.done},           {"failed", sum.failed},
            {"left", sum.left()},         {"merged", overview.merged == RunState::complete},
            {"silence", overview.silence}};
  const auto left = seconds_left(overview.shards);
  json["seconds_left"] = left ? Json(*left) : Json();
  return json;
}

int status(const Arguments& arguments) {
  const std::string directory = arguments.text("DIR");
  const RunOverview overview = overview_of(directory);
  if (arguments.flag("json"))
    fmt::print("{}\n", to_json(overview).dump(2, ' ', false, Json::error_handler_t::replace));
  else
    print_text(overview, directory);
  return static_cast<int>(ExitCode::success);
}

}  // namespace

Verb status_verb() {
  return {
      .name = "status",
      .positional = "DIR",
      .summary = "how far a run is: done, running, failed, left, and until when",
      .description =
          "Shows for each shard or GPU of the run in DIR whether it is complete, running, waiting, stopped "
          "or not begun. It counts the cases that are done, failed and left, estimates the end, and names "
          "the next command. It only reads records and, for a submitted run, asks Slurm.",
      .examples = {{"mprof status runs/a", "each shard, and what to do next"},
                   {"mprof status runs/a --json", "the same for a program"},
                   {"watch -n 60 mprof status runs/a", "every minute"}},
      .section = Section::cluster,
      .options = {{"json", "", "", "Print JSON."}},
      .run = status};
}

}  // namespace mprof::cli
