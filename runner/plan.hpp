// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "kernels/registry.hpp"
#include "model/run.hpp"

namespace mprof {

/// Values by axis, of whichever family has an axis of that name.
using AxisValues = std::map<std::string, std::vector<std::uint64_t>>;

/// Throws Error(usage) for an axis that none of the families has, and for a value outside one's range.
void require_axes(const AxisValues& values, const std::vector<const Family*>& families);

/// What the user asked `mprof run` for. What is empty or not set was not said.
struct RunRequest {
  bool all = false;                   ///< every variant of `devices`
  std::vector<std::string> devices;   ///< "all" for each; empty: the preferred one, and what cannot run here
  std::vector<std::string> patterns;  ///< shell globs over variant ids
  AxisValues values;                  ///< a family of whose axes none is given has its own problems
  std::map<std::string, std::vector<std::string>> settings;  ///< parameter values; "*" stands for all of them
  std::vector<Pass> passes;
  std::vector<std::string> metrics;  ///< what the counters pass reads of each GPU kernel
  bool quick = false;
  bool hot = false;
  bool in_turns = false;  ///< with another build, whose samples are compared one by one
  std::optional<std::uint32_t> rounds{};
  std::optional<std::uint64_t> seed;
  std::optional<double> max_seconds{};  ///< s, of sampling, per case, in all rounds together
  std::optional<double> timeout;        ///< s
  InputPaths inputs;
  std::vector<PluginSource> sources{};  ///< of registered variants
};

/// Throws Error(usage) for what names nothing: a variant (with the nearest names), a device, an axis, a
/// parameter, a value that the family or the variant does not take.
[[nodiscard]] Plan make_plan(const RunRequest& request, const Registry& registry, const Devices& devices);

/// Something that was asked for and is otherwise in a plan; all as a user writes it.
struct Contradiction {
  std::string what{};  ///< a setting, an axis or an input
  std::string asked{};
  std::string planned{};
};

/// Where the request does not agree with a plan that was made before. What was not said agrees.
[[nodiscard]] std::vector<Contradiction> contradictions(const RunRequest& request, const Plan& plan,
                                                        const Registry& registry, const Devices& devices);

/// The families of the plan's variants, with the plan's problems and the work of each.
[[nodiscard]] std::vector<FamilyInfo> families_of(const Plan& plan, const Registry& registry);

/// All cases of the plan in plan order, each with one pending result a pass, from what a record says of its
/// variants and families. Throws Error(usage) when it does not describe one of them.
[[nodiscard]] std::vector<Case> planned_cases(const Plan& plan, const std::vector<VariantInfo>& variants,
                                              const std::vector<FamilyInfo>& families);

/// The same of a plan that was made here.
[[nodiscard]] std::vector<Case> make_cases(const Plan& plan, const Registry& registry);

/// The plan's variants and the baselines they name, as the run record keeps them.
[[nodiscard]] std::vector<VariantInfo> variants_of(const Plan& plan, const Registry& registry);

/// Marks as skipped, with the reason, the passes of variants that cannot run on this machine, and of values
/// of their parameters that cannot go together.
void skip_unavailable(std::vector<Case>& cases, const Registry& registry, const Devices& devices);

/// The files that the cases still to run will read. Throws the family's Error when one is missing or corrupt.
[[nodiscard]] std::vector<InputFile> validate_inputs(const Run& run, const Registry& registry);

/// Why a variant cannot run here: its device, or what it needs itself; nullopt when it can.
[[nodiscard]] std::optional<std::string> unavailable(const RegisteredVariant& variant,
                                                     const Devices& devices);

}  // namespace mprof
