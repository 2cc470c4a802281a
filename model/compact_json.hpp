// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace mprof::json {

/// On one line without blanks, for programs. What is not UTF-8 is replaced, never thrown at.
[[nodiscard]] inline std::string compact(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace mprof::json
