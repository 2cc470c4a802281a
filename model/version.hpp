// SPDX-License-Identifier: MIT
#pragma once

namespace mprof {

extern const char* const version;   ///< "0.1.0"
extern const char* const revision;  ///< git commit, "-dirty" appended when the tree had changes, or "unknown"
extern const char* const compiler;  ///< "GNU 12.2.0"
extern const char* const build_type;   ///< "Release"
extern const char* const build_flags;  ///< what the host code was compiled with

}  // namespace mprof
