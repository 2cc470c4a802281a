// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string_view>

namespace mprof {

/// SI base units. A number becomes text, with a prefix, only in report/text/format.
enum class Unit {
  second,
  byte,
  count,
  ratio,
  percent,
  flop,
  flop_per_second,
  byte_per_second,
  per_second,
  hertz,
  watt,
  celsius
};

/// Which direction of change a user wants.
enum class Better { lower, higher, neither };

/// How the values of several ops or kernels make one value for all of them.
enum class Combine { sum, max, mean, never };

/// One row of the catalogue: everything that the rest of mprof knows of a metric.
struct Metric {
  std::string_view id;
  std::string_view label;
  Unit unit;
  Better better;
  Combine combine;
  std::string_view meaning;  ///< `{group_time}` stands for the family's word for an op with its copies
};

/// The metrics of cases and their ops, in the order in which a table shows them.
[[nodiscard]] std::span<const Metric> metric_catalogue();

/// The row of `id`, here or in hardware_metrics(), or nullptr: a run may hold metrics that this version does
/// not know.
[[nodiscard]] const Metric* find_metric(std::string_view id);

/// Whether the metric follows from the trace pass alone, which sees what CUDA and a GPU did.
[[nodiscard]] bool is_of_trace(std::string_view id);

/// The text of a unit as run.json and tables write it: "s", "B", "1", "%", "FLOP", "FLOP/s", "B/s",
/// "1/s", "Hz".
[[nodiscard]] std::string_view unit_symbol(Unit unit);
/// The inverse, and `Better` by its name; false, and `value` untouched, when `text` names none.
[[nodiscard]] std::string_view to_string(Unit unit);
[[nodiscard]] std::string_view to_string(Better better);
bool from_string(std::string_view text, Unit& value);
bool from_string(std::string_view text, Better& value);

}  // namespace mprof
