#include "report/analysis/fleet.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/options.hpp"
#include "model/run_file.hpp"
#include "report/text/format.hpp"
#include "system/error.hpp"

namespace mprof::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// Of what is bad, the slowest times of a GPU that text shows.
constexpr std::size_t shown_times = 3;

bool is_run(const fs::path& path) {
  std::error_code error;
  return fs::exists(path / "run.json", error);
}

/// The runs in a directory: itself, or what is in it.
void add_runs(const fs::path& directory, std::set<fs::path>& runs) {
  if (is_run(directory)) {
    runs.insert(directory);
    return;
  }
  const std::size_t before = runs.size();
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, error)) {
    if (is_run(entry.path())) runs.insert(entry.path());
  }
  if (runs.size() == before)
    throw Error(
        ExitCode::usage,
        fmt::format("{}: there is no run of mprof, nor are there any in it. Give the result directories "
                    "of the fleet's GPUs, or the folder that they are in.",
                    directory.string()));
}

/// One run at a time: of its samples nothing is kept.
std::vector<FleetMember> read_members(const std::vector<std::string>& directories) {
  std::set<fs::path> runs;
  for (const std::string& directory : directories) add_runs(directory, runs);
  std::vector<FleetMember> members;
  for (const fs::path& run : runs) members.push_back(fleet_member(read_record(run), run.string()));
  return members;
}

std::string standing(const FleetVerdict& verdict) {
  std::vector<std::string> words;
  if (verdict.slow) words.emplace_back("SLOW");
  if (!verdict.other_outputs.empty()) words.emplace_back("WRONG BITS");
  if (!verdict.member->failures.empty()) words.emplace_back("FAILED");
  if (verdict.once) words.emplace_back("once slow");
  return words.empty() ? "ok" : fmt::format("{}", fmt::join(words, ", "));
}

void print_details(const FleetVerdict& verdict) {
  if (!verdict.cause.empty()) fmt::print("    cause: {}\n", format::one_line(verdict.cause));
  for (std::size_t i = 0; i < std::min(shown_times, verdict.slow_times.size()); ++i) {
    const SlowTime& slow = verdict.slow_times[i];
    fmt::print("    {}: {} of the fleet, {:.1f} deviations\n", format::one_line(slow.time),
               format::percent(slow.performance), slow.deviations);
  }
  if (verdict.slow_times.size() > shown_times)
    fmt::print("    and {} more slow times\n", verdict.slow_times.size() - shown_times);
  for (const std::string& output : verdict.other_outputs)
    fmt::print("    {}: its output has other bits than the fleet's\n", format::one_line(output));
  for (const std::string& failure : verdict.member->failures)
    fmt::print("    {}\n", format::one_line(failure));
  if (verdict.once) fmt::print("    measured in one round: run it again with --rounds 3 to tell\n");
}

void print_text(const Fleet& fleet, bool all) {
  for (const FleetOfModel& model : fleet.models) {
    fmt::print("{}: {} machines, {} times, natural spread {}\n", format::one_line(model.model),
               model.verdicts.size(), model.times, format::percent(model.spread));
    fmt::print("  {:>11}  {:>10}  {:<12} {}\n", "Performance", "Deviations", "Verdict", "Run");
    std::size_t fine = 0;
    for (const FleetVerdict& verdict : model.verdicts) {
      if (!all && !verdict.is_bad() && !verdict.once) {
        ++fine;
        continue;
      }
      const std::string& gpu = verdict.member->gpu;
      fmt::print("  {:>11}  {:>10.1f}  {:<12} {}{}\n", format::percent(verdict.performance),
                 verdict.deviations, standing(verdict), format::one_line(verdict.member->name),
                 gpu.empty() ? "" : fmt::format(" ({})", format::one_line(gpu)));
      print_details(verdict);
    }
    if (fine > 0) fmt::print("  {} more are ok (--all shows them).\n", fine);
  }
  if (!fleet.too_few.empty())
    fmt::print("Too few to tell a slow one (fewer than five): {}\n", format::list(fleet.too_few));
}

Json to_json(const FleetVerdict& verdict) {
  Json slow = Json::array();
  for (const SlowTime& time : verdict.slow_times)
    slow.push_back({{"time", time.time}, {"performance", time.performance}});
  return {{"run", verdict.member->name},
          {"gpu", verdict.member->gpu},
          {"performance", verdict.performance},
          {"slow", verdict.slow},
          {"once", verdict.once},
          {"cause", verdict.cause},
          {"slow_times", std::move(slow)},
          {"other_outputs", verdict.other_outputs},
          {"failures", verdict.member->failures},
          {"facts", verdict.member->facts}};
}

Json to_json(const Fleet& fleet) {
  Json models = Json::array();
  for (const FleetOfModel& model : fleet.models) {
    Json machines = Json::array();
    for (const FleetVerdict& verdict : model.verdicts) machines.push_back(to_json(verdict));
    models.push_back({{"model", model.model},
                      {"times", model.times},
                      {"spread", model.spread},
                      {"machines", std::move(machines)}});
  }
  return {{"bad", fleet.is_bad()}, {"models", std::move(models)}, {"too_few", fleet.too_few}};
}

int show_fleet(const Arguments& arguments) {
  const std::vector<FleetMember> members = read_members(arguments.texts("DIR..."));
  const Fleet fleet = judge_fleet(members);
  if (arguments.flag("json"))
    fmt::print("{}\n", to_json(fleet).dump(2, ' ', false, Json::error_handler_t::replace));
  else
    print_text(fleet, arguments.flag("all"));
  if (fleet.models.empty())
    throw Error(
        ExitCode::incomparable,
        "nothing can be said of a fleet of fewer than five GPUs of one model: give the runs of more.");
  return static_cast<int>(fleet.is_bad() ? ExitCode::regression : ExitCode::success);
}

}  // namespace

Verb fleet_verb() {
  return {
      .name = "fleet",
      .positional = "DIR...",
      .summary = "which of many GPUs of one model is slow, or computes other bits",
      .description =
          "Holds the runs of many GPUs of one model against each other, each DIR one GPU's run or a folder "
          "of them. Healthy GPUs differ, so one is called slow only when it is below 95 % of the fleet's "
          "performance, more than 3.5 robust standard deviations off, and so again in a second round "
          "(docs/statistics.md). Exits with 1 when one is slow, failed, or has other bits in its outputs.",
      .options = {{"all", "", "", "Show those that are ok as well."},
                  {"json", "", "", "Print JSON, for monitoring, instead of text."}},
      .run = show_fleet};
}

}  // namespace mprof::cli
