#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "report/analysis/analysis.hpp"
#include "report/views/table.hpp"

/// Cells that several tables of the milestone report share, so that a time looks and is judged the same in
/// all of them.
namespace mprof {

/// A batch as a figure that sorts.
[[nodiscard]] Cell batch_cell(std::uint64_t batch);

/// A head for each op when there are several: "Op Time 1", "Op Time 2"; "Op Time" for a single one.
[[nodiscard]] std::string numbered(std::string_view head, std::size_t index, std::size_t ops);

/// The label of a metric in the catalogue, or its id.
[[nodiscard]] std::string_view label_of(std::string_view metric);

/// A time that must not be taken for a result is marked as such.
[[nodiscard]] Cell judged(Cell cell, const CaseResult& result);

/// A time of an op, judged; an op time that says little says so.
[[nodiscard]] Cell op_time_cell(const CaseResult& result, const OpInfo& op, Value OpResult::*time);

/// The percentage of what the measured peaks allow that an op reaches.
[[nodiscard]] Cell of_possible_cell(const CaseResult& result, const OpInfo& op);

[[nodiscard]] Cell speed_up_cell(const CaseResult& result, const OpInfo& op);
[[nodiscard]] Cell total_speed_up_cell(const CaseResult& result);

/// "crashed: the worker ended by signal 11"
[[nodiscard]] std::string why_without_times(const CaseResult& result);

}  // namespace mprof
