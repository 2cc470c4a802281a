// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <optional>
#include <string>

/// What variants choose among ways to compute the same by running them, such as one of a library's engines.
/// Each pass and round of a case runs in another process, where the same search may end otherwise. Then the
/// passes would explain other kernels than the timed ones. So the record keeps what the first process chose,
/// and later processes get it.
namespace mprof::choices {

/// By what was chosen for: a problem in a variant's own words.
using All = std::map<std::string, std::string>;

/// What was chosen for `problem` of this case, as a rule by an earlier process; nullopt: nothing was. The
/// choice may come from another machine, where a run was resumed or pooled. A variant that cannot follow it
/// chooses again.
[[nodiscard]] std::optional<std::string> known(const std::string& problem);
void keep(const std::string& problem, const std::string& choice);

/// Around a case, by what runs it: what is known of it, and what is known then.
void begin(All known);
[[nodiscard]] All end();

}  // namespace mprof::choices
