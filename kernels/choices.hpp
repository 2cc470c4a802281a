// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <optional>
#include <string>

/// What variants choose among ways to compute the same by running them, as one of a library's engines. Each
/// pass and round of a case runs in another process, where the same search may end otherwise: the passes
/// would explain other kernels than those that were timed. So what the first one chose is kept in the record,
/// and given to those that follow.
namespace mprof::choices {

/// By what was chosen for: a problem in a variant's own words.
using All = std::map<std::string, std::string>;

/// What was chosen for `problem` of this case, by an earlier process as a rule; nullopt: nothing was. It may
/// be of another machine, where a run was resumed or pooled: a variant that cannot follow it chooses anew.
[[nodiscard]] std::optional<std::string> known(const std::string& problem);
void keep(const std::string& problem, const std::string& choice);

/// Around a case, by what runs it: what is known of it, and what is known then.
void begin(All known);
[[nodiscard]] All end();

}  // namespace mprof::choices
