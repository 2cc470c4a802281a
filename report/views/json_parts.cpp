// SPDX-License-Identifier: MIT
#include "report/views/json_parts.hpp"

#include "report/wording/why.hpp"

namespace mprof {

using nlohmann::ordered_json;

ordered_json value_json(const Value& value) {
  if (!value) return {{"median", nullptr}, {"absent", say(value.absent)}};
  ordered_json result{{"median", value->median}, {"samples", value->samples}, {"rounds", value->rounds}};
  if (value->interval) result["interval"] = {value->interval->low, value->interval->high};
  return result;
}

ordered_json optional_json(const std::optional<double>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json interval_json(const std::optional<Interval>& interval) {
  return interval ? ordered_json{interval->low, interval->high} : ordered_json(nullptr);
}

ordered_json problem_json(const Problem& problem) {
  ordered_json object = ordered_json::object();
  for (const Coordinate& coordinate : problem.coordinates) object[coordinate.axis] = coordinate.value;
  return object;
}

}  // namespace mprof
