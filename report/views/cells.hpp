// SPDX-License-Identifier: MIT
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

/// A column for each axis that tells the problems of a run apart, and what stands in them.
void add_problem_columns(Table& table, const Words& words);
void add_problem(std::vector<Cell>& cells, const Words& words, const Problem& problem);

/// A column of times for each op, headed by the family's title for that time.
void add_time_columns(Table& table, const FamilyResult& family, std::string_view metric);

/// A column for each quality of the family, and what stands in them, judged.
void add_quality_columns(Table& table, const FamilyResult& family);
void add_qualities(std::vector<Cell>& cells, const CaseResult& result);

/// A head for each op when there are several: "Op Time 1", "Op Time 2"; "Op Time" for a single one.
[[nodiscard]] std::string numbered(std::string_view head, std::size_t index, std::size_t ops);

/// A time that must not be taken for a result is marked as such.
[[nodiscard]] Cell judged(Cell cell, const CaseResult& result);

/// A time of an op, judged; an op time that says little says so.
[[nodiscard]] Cell op_time_cell(const FamilyResult& family, const CaseResult& result, const OpInfo& op,
                                Value OpResult::*time);

/// The GPU time of an op by the trace; one above the op time says why.
[[nodiscard]] Cell traced_time_cell(const OpResult& op);

/// The percentage of what the measured peaks allow that an op reaches, and which of them that is.
[[nodiscard]] Cell of_possible_cell(const CaseResult& result, const OpInfo& op);

[[nodiscard]] Cell speed_up_cell(const FamilyResult& family, const CaseResult& result, const OpInfo& op);
[[nodiscard]] Cell total_speed_up_cell(const CaseResult& result);

/// Faster is good, slower is bad, and the rest quiet.
[[nodiscard]] Tone tone_of(Verdict verdict);

/// "crashed: the worker ended by signal 11"
[[nodiscard]] std::string why_without_times(const CaseResult& result);

/// A percentage that was read once, of which more than a decimal says nothing.
[[nodiscard]] Cell percentage_cell(const Value& value);

/// SM, memory, achieved occupancy and bottleneck of a kernel, and what stands in them; nullptr of one that
/// was not counted.
void add_counted_columns(Table& table);
void add_counted(std::vector<Cell>& cells, const KernelResult* counted);

/// How many samples of its times were taken.
[[nodiscard]] Cell samples_cell(const CaseResult& result);

/// Points of a sweep differ by their parameters, which the id leaves out where they are at their default.
[[nodiscard]] std::string parameters_text(const CaseResult& result);

}  // namespace mprof
