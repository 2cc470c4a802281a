// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "serve/mcp/answer.hpp"

/// The questions that are answered by reading. Each has a process of its own: what a record holds may be
/// anybody's, and what it costs to read is not known beforehand.
namespace mprof::mcp {

/// What the server knows.
struct ServerFacts {
  std::size_t bytes = usual_bytes;     ///< of an answer, where the call does not say
  std::vector<std::string> allowed{};  ///< "measure", "compile"
  double budget_left = 0;              ///< s
  std::string running{};               ///< the job; empty: none
};

/// A question with its arguments, which meet the tool's schema.
[[nodiscard]] Answer answer_machine(const Json& arguments, const ServerFacts& facts);
[[nodiscard]] Answer answer_summary(const Json& arguments);
[[nodiscard]] Answer answer_rows(const Json& arguments);
[[nodiscard]] Answer answer_explain(const Json& arguments);
[[nodiscard]] Answer answer_compare(const Json& arguments);
[[nodiscard]] Answer answer_lines(const Json& arguments);

/// Reads { tool, arguments, facts } from standard input, and writes { document, is_error } to standard
/// output. The exit code is 0 where that was written.
int answer_from_standard_input();

/// What such a process is given.
[[nodiscard]] std::string question_text(std::string_view tool, const Json& arguments,
                                        const ServerFacts& facts);

}  // namespace mprof::mcp
