// SPDX-License-Identifier: MIT
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/family_options.hpp"
#include "cli/json_answer.hpp"
#include "cli/options.hpp"
#include "device/probe.hpp"
#include "kernels/registry.hpp"
#include "runner/tool_probes.hpp"
#include "system/error.hpp"

namespace mprof::cli {
namespace {

nlohmann::ordered_json json_of(const std::vector<Probe>& probes, bool can_run) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Probe& probe : probes)
    rows.push_back({{"name", probe.name},
                    {"state", to_string(probe.state)},
                    {"found", probe.found},
                    {"remedy", probe.remedy}});
  return {{"can_run", can_run}, {"probes", std::move(rows)}};
}

int doctor(const Arguments& arguments) {
  JsonAnswer answer(arguments.flag("json"));
  const Registry& registry = Registry::instance();
  const std::vector<Probe> probes =
      probe_machine_and_tools(registry, locate_inputs(arguments, registry), steady_clock());
  for (const Probe& probe : answer.is_wanted() ? std::vector<Probe>{} : probes) {
    fmt::print("{:<8} {}: {}\n", to_string(probe.state), probe.name, probe.found);
    if (!probe.remedy.empty()) fmt::print("         -> {}\n", probe.remedy);
  }
  const bool missing = std::any_of(probes.begin(), probes.end(),
                                   [](const Probe& p) { return p.state == ProbeState::missing; });
  answer.print("mprof.doctor/1", json_of(probes, !missing));
  if (!answer.is_wanted())
    fmt::print("\n{}\n", missing ? "Something that mprof requires is missing." : "mprof can run here.");
  return static_cast<int>(missing ? ExitCode::environment : ExitCode::success);
}

}  // namespace

Verb doctor_verb() {
  std::vector<Option> options{json_answer_option()};
  add_input_options(options, Registry::instance());
  return {
      .name = "doctor",
      .summary = "check what this machine has and lacks for mprof",
      .description =
          "Looks at the CPU, memory, hardware counters, the NVIDIA driver and the input files. It says what "
          "to do about each that is missing. The exit code is 5 when something required is missing.",
      .examples = {{"mprof doctor", "what works here, and what to do about the rest"},
                   {"mprof doctor --input NAME=PATH", "with an input of a family at another place"},
                   {"mprof doctor && mprof run --all --quick", "run only where everything is there"}},
      .section = Section::start,
      .options = std::move(options),
      .run = doctor};
}

}  // namespace mprof::cli
