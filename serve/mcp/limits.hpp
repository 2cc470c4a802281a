// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

/// What a client may take of the server and of the machine.
namespace mprof::mcp {

inline constexpr double longest_call_s = 20;       ///< no call is answered later
inline constexpr std::size_t longest_wait_s = 18;  ///< for a job, in one call: less than that
inline constexpr double longest_read_s = 18;       ///< of a record, in one call
inline constexpr std::size_t longest_job_s = 600;
inline constexpr std::size_t usual_job_s = 300;
inline constexpr double compile_s = 300;  ///< that a judge's job may take beyond its budget of measuring
inline constexpr std::size_t longest_queue = 4;  ///< jobs that wait for the one that runs
inline constexpr std::size_t kept_jobs = 64;     ///< that have ended
inline constexpr std::size_t most_calls = 8;     ///< that are being answered
inline constexpr double calls_per_s = 10;
inline constexpr std::size_t longest_code = std::size_t{256} << 10;
inline constexpr std::size_t most_hot_lines_asked = 30;
inline constexpr double progress_every_s = 5;

}  // namespace mprof::mcp
