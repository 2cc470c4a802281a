// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "kernels/registry.hpp"
#include "runner/plan.hpp"
#include "serve/judge/judgement.hpp"
#include "system/clock.hpp"
#include "system/sandbox.hpp"

/// `mprof judge`: whether a file is right and how fast it is, by checks that the file cannot touch.
namespace mprof {

struct JudgeRequest {
  std::filesystem::path file{};
  std::string against{};  ///< a variant; empty: the baseline that the file declares
  std::function<AxisValues(const Family&)> problem{};  ///< one value an axis
  std::vector<std::string> flags{};                    ///< for the compiler
  std::string precision{};  ///< in which its outputs must be right; empty: it is found
  InputPaths inputs{};
  double budget = 60;          ///< s, from when it was compiled
  double compile_limit = 120;  ///< s
  double timeout = 60;         ///< s, of an execution, or of a round
  double sampling_time = 1;    ///< s, of a round
  bool is_alone = false;       ///< nothing that lies beside the file belongs to it
  bool memcheck = true;
  bool counters = false;
  std::optional<std::uint64_t> seed{};  ///< of all that is drawn; nullopt: nobody knows it
  std::filesystem::path out{};          ///< where the records are kept; empty: nowhere
  bool overwrite = false;
  std::vector<std::string> command_line{};
};

struct JudgeContext {
  Registry& registry;
  const Devices& devices;
  const Clock& clock;
  const Sandbox* sandbox = nullptr;  ///< nullptr: the file has the rights of this user
  int interrupt_fd = -1;             ///< becomes readable when it is to stop; -1: never
  std::function<void(const JudgedStage& stage)> on_stage = [](const JudgedStage&) {};
};

/// Goes through the stages until one of them ends it. What is wrong with the file is in the result. Throws
/// Error(usage) for what is wrong with the request, Error(environment) for what the machine lacks, and
/// Error(interrupted).
[[nodiscard]] Judgement judge_file(const JudgeRequest& request, const JudgeContext& context);

}  // namespace mprof
