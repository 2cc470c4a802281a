// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "kernels/registry.hpp"
#include "model/run.hpp"
#include "serve/judge/judgement.hpp"
#include "system/clock.hpp"

/// Why a file is as fast as it is, from the records of what was measured.
namespace mprof {

/// What the records of the other variant and of the file say without counters. How near is the time to what
/// the machine can do? What machine is it, and what disturbed it? Which of the file's expectations were met?
/// `directory` is the file's record.
void add_causes(const Run& of_other, const Run& of_file, const std::filesystem::path& directory,
                Judgement& judgement);

struct ExtraPassRequest {
  const Run& run;  ///< of the file, timed
  Pass pass = Pass::counters;
  std::vector<std::string> worker_command{};
  std::filesystem::path directory{};  ///< for the record; the worker sees nothing of it
  std::filesystem::path written{};    ///< where the worker may write
  const Registry& registry;
  const Clock& clock;
  int interrupt_fd = -1;
};

struct ExtraPass {
  Run run{};              ///< with the pass
  std::string absent{};   ///< why it has none
  std::string suspect{};  ///< what contradicts the times
};

/// One more execution, in a pass that watches it: a trace, or hardware counters. Both folders are empty.
/// Throws Error(interrupted).
[[nodiscard]] ExtraPass extra_pass(const ExtraPassRequest& request);

/// The kernels of such a run, and what to change in them.
void add_kernels(const Run& counted, Judgement& judgement);

}  // namespace mprof
