// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "inputs/rubric_file.hpp"
#include "serve/judge/hand_ins.hpp"
#include "serve/judge/judge.hpp"
#include "system/sandbox.hpp"

/// The command line of `mprof judge`.
namespace mprof::cli {

[[nodiscard]] std::vector<Option> judge_options();

/// Throws Error(usage) for what is wrong with it. `arguments` must outlive the result.
[[nodiscard]] JudgeRequest judge_request(const Arguments& arguments);

/// nullptr with --no-sandbox. Throws Error(environment) where none can be made.
[[nodiscard]] std::unique_ptr<Sandbox> judge_sandbox(const Arguments& arguments);

/// --max-bytes. Throws Error(usage) where it is too small.
[[nodiscard]] std::size_t judge_bytes(const Arguments& arguments);

/// --rubric; nullopt without it. Throws Error(usage) for what is no rubric.
[[nodiscard]] std::optional<Rubric> judge_rubric(const Arguments& arguments);

/// Throws Error(usage) for another one.
void require_judge_format(const std::string& format);

/// What judges each hand-in of a folder. Throws Error(usage) where it has none.
[[nodiscard]] ClassRequest class_request(const Arguments& arguments, int interrupt_fd);

/// judge.json, judge.txt and results.json (Gradescope's) in a folder.
void keep_answer(const Judgement& judgement, const std::filesystem::path& folder, std::size_t most_bytes);

/// A line on standard error: "judge: compile done, 9.1 s".
void say_stage(const JudgedStage& stage);

}  // namespace mprof::cli
