// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "serve/mcp/answer.hpp"
#include "system/clock.hpp"

/// `mprof mcp`: tools for agents, on standard input and output.
namespace mprof::mcp {

struct ServerOptions {
  std::filesystem::path root;          ///< below it everything is, and nothing else is reached
  bool may_measure = false;            ///< run programs
  bool may_compile = false;            ///< build sources, which then are run
  std::string device{};                ///< the GPU that jobs see, as CUDA names it; empty: all
  double budget = 1800;                ///< s, of all jobs together
  std::size_t bytes = usual_bytes;     ///< of an answer, where a call does not say
  bool trusts_sources = false;         ///< `judge` runs them outside of its sandbox
  std::vector<std::string> sandbox{};  ///< the words before a command that measures a program; empty: none
  int interrupt_fd = -1;               ///< becomes readable when the server must end
};

/// Serves one client until its input ends, nobody reads its output, or `interrupt_fd` says so. Then all jobs
/// are ended. Throws Error(usage) where the root is no directory. Returns the exit code.
int serve(const ServerOptions& options, const Clock& clock);

}  // namespace mprof::mcp
