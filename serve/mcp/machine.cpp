// SPDX-License-Identifier: MIT
#include <ctime>
#include <map>
#include <string>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "device/device.hpp"
#include "device/probe.hpp"
#include "kernels/registry.hpp"
#include "report/text/format.hpp"
#include "runner/inputs.hpp"
#include "runner/plan.hpp"
#include "runner/tool_probes.hpp"
#include "serve/mcp/questions.hpp"
#include "serve/mcp/root.hpp"
#include "system/clock.hpp"

/// What can be asked here: the machine, the runs below the root, the families and their variants.
namespace mprof::mcp {
namespace {

constexpr std::size_t most_runs = 200;

void add_server(Answer& answer, const ServerFacts& facts) {
  answer.add({{"key", "server"},
              {"kind", "server"},
              {"allowed", facts.allowed},
              {"budget_left", number(facts.budget_left)},
              {"running", facts.running.empty() ? Json(nullptr) : Json(facts.running)}});
  const auto allows = [&](std::string_view what) {
    return std::ranges::find(facts.allowed, what) != facts.allowed.end();
  };
  if (!allows("measure"))
    answer.lack("measuring", "the server was started without --allow measure",
                "Whoever starts it may add --allow measure.");
  else if (!allows("compile"))
    answer.lack("judging sources", "the server was started without --allow compile",
                "Whoever starts it may add --allow compile.");
}

/// What `mprof doctor` says here. Of compilers and other tools, which take long on a slow disk, only where
/// that is asked for.
void add_probes(Answer& answer, bool with_tools) {
  const Registry& registry = Registry::instance();
  for (const Probe& probe :
       with_tools ? probe_machine_and_tools(registry, locate_inputs({}, registry), steady_clock())
                  : probe_machine()) {
    Json row{{"key", key_of("probe", format::slug(probe.name))},
             {"kind", "probe"},
             {"name", foreign(probe.name)},
             {"state", to_string(probe.state)},
             {"text", foreign(probe.found)}};
    if (!probe.remedy.empty()) row["how"] = foreign(probe.remedy);
    answer.add(std::move(row));
  }
}

std::string time_text(std::int64_t seconds) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

void add_runs(Answer& answer, const FoundRuns& found) {
  for (const FoundRun& run : found.runs)
    answer.add({{"key", key_of("run", run.path)},
                {"kind", "run"},
                {"name", foreign(run.path)},
                {"written", time_text(run.written)}});
  if (!found.is_complete)
    answer.lack("more runs", "the tree below the root is large, or a folder of it could not be read",
                "Name a run by its path below the root.");
}

void add_families(Answer& answer) {
  for (const Family* const family : Registry::instance().families()) {
    Json problems = Json::array();
    for (const Problem& problem : family->default_problems(false)) problems.push_back(problem_id(problem));
    answer.add({{"key", key_of("family", family->info().id)},
                {"kind", "family"},
                {"name", foreign(family->info().id)},
                {"text", foreign(family->info().title)},
                {"problems", std::move(problems)}});
  }
}

/// Most have one reason why they cannot run, which is said once.
void add_variants(Answer& answer) {
  std::map<std::string, std::size_t> reasons;
  for (const RegisteredVariant* const variant : Registry::instance().variants()) {
    const auto reason = unavailable(*variant, Devices::instance());
    answer.add({{"key", key_of("variant", variant->info.id)},
                {"kind", "variant"},
                {"name", foreign(variant->info.id)},
                {"device", variant->info.device},
                {"text", foreign(variant->info.title, 120)},
                {"runs_here", !reason}});
    if (reason) ++reasons[*reason];
  }
  for (const auto& [reason, variants] : reasons)
    answer.lack(fmt::format("times of {} here", format::plural(variants, "variant")), reason,
                "The rows of the kind probe say what this machine lacks.");
}

}  // namespace

Answer answer_machine(const Json& arguments, const ServerFacts& facts) {
  Answer answer("machine", arguments);
  const std::string kind = arguments.value("kind", "");
  const auto wants = [&](std::string_view one) { return kind.empty() || kind == one; };
  if (wants("server")) add_server(answer, facts);
  FoundRuns runs;
  if (wants("run")) {
    runs = find_runs(most_runs);
    add_runs(answer, runs);
  }
  if (wants("probe")) add_probes(answer, kind == "probe");
  if (wants("family")) add_families(answer);
  if (kind == "variant") add_variants(answer);
  answer.say(kind.empty()
                 ? fmt::format("{} below the root, {} built in.", format::plural(runs.runs.size(), "run"),
                               format::plural(Registry::instance().variants().size(), "variant"))
                 : fmt::format("{} of the kind {}.", format::plural(answer.rows().size(), "row"), kind));
  answer.set_units({{"budget_left", "s"}});
  answer.mark_foreign({"name", "text", "how"});
  if (kind.empty()) {
    answer.lead_on("machine", {{"kind", "variant"}});
    answer.lead_on("machine", {{"kind", "probe"}});
  }
  for (std::size_t i = 0; i < runs.runs.size() && i < 2; ++i)
    answer.lead_on("summary", {{"run", runs.runs[i].path}});
  if (runs.runs.size() > 1)
    answer.lead_on("compare", {{"before", runs.runs[1].path}, {"after", runs.runs[0].path}});
  return answer;
}

}  // namespace mprof::mcp
