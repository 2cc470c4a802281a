// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>

#include <nlohmann/json.hpp>

#include "report/analysis/judgement/session.hpp"
#include "report/text/family_words.hpp"

namespace mprof {

/// What a session compared, and how long it took.
struct SessionSides {
  std::string a{};  ///< as a reader calls it: a variant, or a program
  std::string b{};
  std::string problem{};
  double seconds = 0;
};

/// What `mprof ab` prints: a line a time, then how sure it is. Plain text of at most `width` columns.
[[nodiscard]] std::string render_session(const Session& session, const SessionSides& sides,
                                         const Words& words, std::size_t width);

/// The same for programs; docs/guides/ab.md explains it.
[[nodiscard]] nlohmann::ordered_json session_json(const Session& session, const SessionSides& sides);

}  // namespace mprof
