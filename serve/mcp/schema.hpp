// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>

namespace mprof::mcp {

using Json = nlohmann::ordered_json;

/// Throws Trouble with the argument at fault where a value does not meet a schema of the tools: of JSON
/// Schema type, properties, required, additionalProperties, enum, items, and the bounds of numbers, text and
/// arrays.
void require_schema(const Json& schema, const Json& arguments);

}  // namespace mprof::mcp
