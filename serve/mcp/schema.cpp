// SPDX-License-Identifier: MIT
#include "serve/mcp/schema.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "report/text/format.hpp"
#include "serve/mcp/answer.hpp"
#include "system/suggest.hpp"

namespace mprof::mcp {
namespace {

[[noreturn]] void refuse_argument(const std::string& where, const std::string& expected) {
  throw Trouble("bad_argument",
                fmt::format("{} must be {}.", where.empty() ? "The arguments" : where, expected),
                "The tool's inputSchema has all arguments.");
}

bool is_of_type(const std::string& type, const Json& value) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  return type == "integer" ? value.is_number_integer() : value.is_number();
}

/// The value of a bound, or `otherwise`.
double bound(const Json& schema, const char* name, double otherwise) {
  return schema.value(name, otherwise);
}

void require_size(const Json& schema, const std::string& where, std::size_t size, const char* least,
                  const char* most, std::string_view of) {
  const auto actual = static_cast<double>(size);
  if (actual < bound(schema, least, 0))
    refuse_argument(where, fmt::format("at least {} {}", schema[least].dump(), of));
  if (actual > bound(schema, most, actual))
    refuse_argument(where, fmt::format("at most {} {}", schema[most].dump(), of));
}

void require(const Json& schema, const Json& value, const std::string& where);

void require_members(const Json& schema, const Json& value, const std::string& where) {
  const Json& properties = schema["properties"];
  for (const auto& [name, one] : value.items()) {
    if (properties.contains(name)) {
      require(properties[name], one, where.empty() ? name : where + "." + name);
      continue;
    }
    std::vector<std::string> known;
    for (const auto& [property, of] : properties.items()) known.push_back(property);
    throw Trouble("bad_argument",
                  fmt::format("There is no argument '{}'.{}", foreign(name, 64), did_you_mean(name, known)),
                  fmt::format("The arguments are {}.", format::list(known)));
  }
  for (const Json& name : schema.value("required", Json::array())) {
    if (!value.contains(name.get<std::string>()))
      throw Trouble("bad_argument", fmt::format("The argument {} is missing.", name.get<std::string>()),
                    "The tool's inputSchema has all arguments.");
  }
}

void require(const Json& schema, const Json& value, const std::string& where) {
  const std::string type = schema["type"].get<std::string>();
  if (!is_of_type(type, value))
    refuse_argument(where,
                    type == "object" || type == "array" || type == "integer" ? "an " + type : "a " + type);
  if (schema.contains("enum") && std::ranges::find(schema["enum"], value) == schema["enum"].end()) {
    std::vector<std::string> known;
    for (const Json& one : schema["enum"]) known.push_back(one.get<std::string>());
    refuse_argument(where, "one of " + format::list(known));
  }
  if (type == "object") require_members(schema, value, where);
  if (type == "string")
    require_size(schema, where, value.get_ref<const std::string&>().size(), "minLength", "maxLength",
                 "bytes");
  if (type == "array") {
    require_size(schema, where, value.size(), "minItems", "maxItems", "items");
    for (std::size_t i = 0; i < value.size(); ++i)
      require(schema["items"], value[i], fmt::format("{}[{}]", where, i));
  }
  if (value.is_number()) {
    const double number_of = value.get<double>();
    if (number_of < bound(schema, "minimum", number_of))
      refuse_argument(where, "at least " + schema["minimum"].dump());
    if (number_of > bound(schema, "maximum", number_of))
      refuse_argument(where, "at most " + schema["maximum"].dump());
  }
}

}  // namespace

void require_schema(const Json& schema, const Json& arguments) {
  require(schema, arguments, "");
}

}  // namespace mprof::mcp
