// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/facts.hpp"
#include "model/run.hpp"

/// What a run says of its machine and its build, in words.
namespace mprof {

/// A fact as text, its number with the unit that its name implies: memory and caches in bytes, frequencies in
/// hertz.
[[nodiscard]] std::string fact_text(std::string_view group, std::string_view name, const Fact& fact);

/// The fact, or an empty text when it is absent or not recorded.
[[nodiscard]] std::string known_fact(const Run& run, std::string_view group, std::string_view name);

/// What the run's variants ran on, for a title: the GPU's name when one of them is for CUDA, otherwise the
/// CPU's.
[[nodiscard]] std::string machine_name(const Run& run);

/// What identifies a run's machine, in the order of identifying_facts; empty where the run does not know.
using MachineFacts = std::array<std::string, identifying_facts.size()>;
[[nodiscard]] MachineFacts machine_facts(const Run& run);

/// "GPU driver"; "build type", which says its group itself.
[[nodiscard]] std::string fact_label(const FactName& fact);

/// Why two runs, by what a sentence calls them, are of different machines: "GPU name: X in A, Y in B". Empty
/// where nothing says so; a fact that only one of them knows is no sign of it.
[[nodiscard]] std::vector<std::string> machine_differences(const MachineFacts& a, const MachineFacts& b,
                                                           std::string_view name_a, std::string_view name_b);

/// "GPU", "CPU", "Operating system", ... for a group of facts.
[[nodiscard]] std::string group_title(std::string_view group);

/// The groups that the run holds, what computes first.
[[nodiscard]] std::vector<std::string> ordered_groups(const Environment& environment);

/// The names of a group's facts, what identifies the thing first.
[[nodiscard]] std::vector<std::string> ordered_facts(const std::map<std::string, Fact>& facts);

/// The record's environment as a reader needs it. Clocks that were read before the run are named the clocks
/// of an idle GPU, next to the clocks between timed executions. How many GPUs each of several parts saw says
/// nothing of the whole.
[[nodiscard]] Environment shown_environment(const Run& run);

/// What a reader calls a fact. Libraries keep the spelling of their names.
[[nodiscard]] std::string fact_title(std::string_view group, std::string_view name);

/// "2025-03-01T12:34:56Z" -> "2025-03-01 12:34:56 UTC".
[[nodiscard]] std::string moment(std::string_view iso8601);

/// What tells a part of a merged run from others: the UUID of its GPU, "Shard 2", or when it began.
[[nodiscard]] std::string part_name(const RunPart& part);

}  // namespace mprof
