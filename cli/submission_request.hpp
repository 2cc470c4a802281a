// SPDX-License-Identifier: MIT
#pragma once

#include "cli/options.hpp"
#include "runner/cluster/slurm.hpp"
#include "runner/cluster/submission.hpp"

/// What the command line of `mprof submit` asks for. Each throws Error for what is wrong with it.
namespace mprof::cli {

[[nodiscard]] Submission new_submission(const Arguments& arguments);

/// The submission that is there, with what this command line says otherwise of its jobs.
[[nodiscard]] Submission renewed(Submission submission, const Arguments& arguments);

[[nodiscard]] slurm::Work work_of(const Arguments& arguments);

}  // namespace mprof::cli
