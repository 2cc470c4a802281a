// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include <nlohmann/json.hpp>

/// The tools of the server, as `tools/list` lists them.
namespace mprof::mcp {

using Json = nlohmann::ordered_json;

/// All of them, always in this order. Each schema costs an agent some of its context, so there are few.
[[nodiscard]] const Json& tools();
/// One by its name, which must be known.
[[nodiscard]] const Json& tool(std::string_view name);

/// What `initialize` and `server/discover` say to an agent.
[[nodiscard]] std::string_view instructions();

}  // namespace mprof::mcp
