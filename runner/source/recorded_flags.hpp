// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

/// What a compiler may be told by a record, which may be a stranger's.
namespace mprof {

/// The first of a record's compiler flags that is not on the list of flags that only say how code is
/// compiled; nullopt: all are. Others can start programs (-wrapper, -fplugin, -B, -specs, --compiler-bindir),
/// read further flags (@response), or hold what a shell below nvcc would run.
[[nodiscard]] std::optional<std::string> refused_flag(const std::vector<std::string>& flags);

/// Whether a shell takes the text for something else than a part of one word, quoted or not: nvcc has a shell
/// run its steps, and quotes a source's path no better than that.
[[nodiscard]] bool is_for_a_shell(const std::string& text);

}  // namespace mprof
