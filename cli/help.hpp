// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options.hpp"

/// What is printed from the table of verbs and options.
namespace mprof::cli {

/// `mprof help`, in lines of at most `width` columns.
[[nodiscard]] std::string help(const std::vector<Verb>& verbs, unsigned width);

/// `mprof VERB --help`.
[[nodiscard]] std::string help(const Verb& verb, unsigned width);

/// docs/cli.md.
[[nodiscard]] std::string markdown_help(const std::vector<Verb>& verbs);

/// The man page of a verb, mprof-VERB(1), in roff.
[[nodiscard]] std::string man_page(const Verb& verb);
/// mprof(1).
[[nodiscard]] std::string man_page(const std::vector<Verb>& verbs);

/// A script for bash, zsh or fish that completes verbs, options, files and these variants. Throws
/// Error(usage) for another shell.
[[nodiscard]] std::string completion(std::string_view shell, const std::vector<Verb>& verbs,
                                     std::span<const std::string> variants);

}  // namespace mprof::cli
