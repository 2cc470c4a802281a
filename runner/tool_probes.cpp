// SPDX-License-Identifier: MIT
#include "runner/tool_probes.hpp"

#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runner/sanitize/compute_sanitizer.hpp"
#include "runner/source/compiler.hpp"
#include "system/error.hpp"

namespace mprof {
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
Probe probe_sanitizer(const Clock& clock) {
  const Sanitizer sanitizer = find_sanitizer(sanitizer_folders(), clock);
  if (sanitizer.absent.empty()) {
    return {"compute-sanitizer", ProbeState::ok, fmt::format("{}, {}", sanitizer.version, sanitizer.program),
            ""};
  }
  return {"compute-sanitizer", ProbeState::limited, sanitizer.absent, "Only `mprof sanitize` needs it."};
}

/// What compiles sources that end so. Only `mprof run --source` needs it.
Probe probe_compiler(const char* name, const char* ending, const Clock& clock) {
  try {
    const Compiler found = find_compiler(fmt::format("any{}", ending), clock);
    return {name, ProbeState::ok, fmt::format("{}, {}", found.version, found.program.string()), ""};
  } catch (const Error& error) {
    return {name, ProbeState::limited, error.what(),
            fmt::format("Only `mprof run --source` of a {} file needs it.", ending)};
  }
}

}  // namespace

std::vector<Probe> probe_machine_and_tools(const Registry& registry, const InputPaths& paths,
                                           const Clock& clock) {
  std::vector<Probe> probes = probe_machine();
  probes.push_back(probe_sanitizer(clock));
  probes.push_back(probe_compiler("nvcc", ".cu", clock));
  probes.push_back(probe_compiler("C++ compiler", ".cpp", clock));
  for (const Family* const family : registry.families()) probes.push_back(probe_inputs(*family, paths));
  return probes;
}

}  // namespace mprof
