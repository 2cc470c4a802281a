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
#include "runner/sanitize/compute_sanitizer.hpp"
#include "runner/source/compiler.hpp"
#include "system/error.hpp"

namespace mprof::cli {
namespace {

/// Reads a family's inputs as a run would.
Probe probe_inputs(const Family& family, const InputPaths& paths) {
  Probe probe{.name = fmt::format("inputs of {}", family.info().id), .found = {}, .remedy = {}};
  try {
    std::vector<std::string> files;
    for (const InputFile& file : family.validate(paths)) files.push_back(file.path);
    probe.found = files.empty() ? "it needs none" : fmt::format("{}", fmt::join(files, ", "));
  } catch (const Error& error) {
    probe.state = ProbeState::missing;
    probe.found = error.what();
    probe.remedy = "without them nothing of this family runs";
  }
  return probe;
}

/// Only `mprof sanitize` needs it.
Probe probe_sanitizer() {
  const Sanitizer sanitizer = find_sanitizer(sanitizer_folders(), steady_clock());
  if (sanitizer.absent.empty()) {
    return {"compute-sanitizer", ProbeState::ok, fmt::format("{}, {}", sanitizer.version, sanitizer.program),
            ""};
  }
  return {"compute-sanitizer", ProbeState::limited, sanitizer.absent, "Only `mprof sanitize` needs it."};
}

/// What compiles sources that end so. Only `mprof run --source` needs it.
Probe probe_compiler(const char* name, const char* ending) {
  try {
    const Compiler found = find_compiler(fmt::format("any{}", ending), steady_clock());
    return {name, ProbeState::ok, fmt::format("{}, {}", found.version, found.program.string()), ""};
  } catch (const Error& error) {
    return {name, ProbeState::limited, error.what(),
            fmt::format("Only `mprof run --source` of a {} file needs it.", ending)};
  }
}

std::string_view word(ProbeState state) {
  switch (state) {
    case ProbeState::ok:
      return "ok";
    case ProbeState::limited:
      return "limited";
    case ProbeState::missing:
      return "missing";
  }
  return "";
}

nlohmann::ordered_json json_of(const std::vector<Probe>& probes, bool can_run) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Probe& probe : probes)
    rows.push_back({{"name", probe.name},
                    {"state", word(probe.state)},
                    {"found", probe.found},
                    {"remedy", probe.remedy}});
  return {{"can_run", can_run}, {"probes", std::move(rows)}};
}

int doctor(const Arguments& arguments) {
  JsonAnswer answer(arguments.flag("json"));
  std::vector<Probe> probes = probe_machine();
  const Registry& registry = Registry::instance();
  const InputPaths paths = locate_inputs(arguments, registry);
  probes.push_back(probe_sanitizer());
  probes.push_back(probe_compiler("nvcc", ".cu"));
  probes.push_back(probe_compiler("C++ compiler", ".cpp"));
  for (const Family* family : registry.families()) probes.push_back(probe_inputs(*family, paths));
  for (const Probe& probe : answer.is_wanted() ? std::vector<Probe>{} : probes) {
    fmt::print("{:<8} {}: {}\n", word(probe.state), probe.name, probe.found);
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
