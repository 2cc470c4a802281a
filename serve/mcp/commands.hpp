// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "serve/mcp/jobs.hpp"
#include "serve/mcp/server.hpp"

/// The commands of jobs: mprof itself, with arguments that are no options of anybody's choosing.
namespace mprof::mcp {

/// `mprof run -- PROGRAM`. Throws Trouble where it is not allowed, or where a path leads out of the root.
[[nodiscard]] JobRequest profile_request(const Json& arguments, const ServerOptions& options);
/// `mprof judge FILE --json`.
[[nodiscard]] JobRequest judge_request(const Json& arguments, const ServerOptions& options);

/// What a retry of the call has in common with it: its key, or a hash of its arguments and of the source.
[[nodiscard]] std::string key_of_call(const std::string& tool, const Json& arguments);

/// The answer of a call that is about a job. A judge's verdict is a part of it once it is there.
[[nodiscard]] Json job_document(const std::string& tool, const JobView& job, std::size_t bytes);

}  // namespace mprof::mcp
