#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "kernels/registry.hpp"
#include "model/data_paths.hpp"
#include "model/run.hpp"

namespace mprof {

/// What the user asked `mprof run` for.
struct Selection {
  bool all = false;  ///< every variant of the preferred device, and those that cannot run here
  std::vector<std::string> patterns;                         ///< shell globs over variant ids
  std::vector<std::uint64_t> batches;                        ///< empty: the family's own
  std::map<std::string, std::vector<std::string>> settings;  ///< parameter values; "*" stands for all of them
  std::vector<Pass> passes;
  std::vector<std::string> metrics;  ///< what the counters pass reads of each GPU kernel
  bool quick = false;
  bool hot = false;
  std::uint64_t seed = 0;
  double timeout = 0;  ///< s
  DataPaths data;
};

/// Throws Error(usage) for what names nothing: a variant (with the nearest names), a parameter, a value, a
/// batch that the family cannot fill.
[[nodiscard]] Plan make_plan(const Selection& selection, const Registry& registry, const Devices& devices);

/// All cases of the plan in plan order, each with one pending result a pass.
[[nodiscard]] std::vector<Case> make_cases(const Plan& plan, const Registry& registry);

/// The plan's variants and the baselines they name, as the run record keeps them.
[[nodiscard]] std::vector<VariantInfo> variants_of(const Plan& plan, const Registry& registry);

/// Marks as skipped, with the reason, the passes of variants that cannot run on this machine.
void skip_unavailable(std::vector<Case>& cases, const Registry& registry, const Devices& devices);

/// Why a variant cannot run here: its device, or what it needs itself; nullopt when it can.
[[nodiscard]] std::optional<std::string> unavailable(const RegisteredVariant& variant,
                                                     const Devices& devices);

}  // namespace mprof
