// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/member.hpp"
#include "model/trace/nsys_schema.hpp"
#include "report/trace/profile_tables.hpp"

/// What the tables of a profile are put together from.
namespace mprof::profile {

[[nodiscard]] ProfileColumn words(std::string head);
[[nodiscard]] ProfileColumn whole(std::string head, std::string unit = {});
[[nodiscard]] ProfileColumn rounded(std::string head, std::string unit, int decimals);

/// As nsys prints them, so that figures stand under each other; empty where it is not known.
[[nodiscard]] std::string size_text(const std::optional<trace::Size>& size);

/// "PushPop", "StartEnd"
[[nodiscard]] std::string style_text(trace::RangeStyle style);

/// A column, and what a row of a table has in it.
template <class Row>
struct TableColumn {
  ProfileColumn head;
  ProfileCell (*cell)(const Row& row, const trace::Trace& trace);
};

[[nodiscard]] inline ProfileCell cell_of(std::int64_t number) {
  return number;
}
[[nodiscard]] inline ProfileCell cell_of(std::uint32_t number) {
  return std::int64_t{number};
}
[[nodiscard]] inline ProfileCell cell_of(double number) {
  return number;
}
[[nodiscard]] inline ProfileCell cell_of(const std::string& text) {
  return text;
}
template <class T>
[[nodiscard]] ProfileCell cell_of(const std::optional<T>& value) {
  return value ? cell_of(*value) : ProfileCell();
}

/// A row's member as a cell.
template <auto First, auto... Rest>
ProfileCell plain(const RowOf<First>& row, const trace::Trace&) {
  return cell_of(member<First, Rest...>(row));
}
/// A name of the trace.
template <auto First, auto... Rest>
ProfileCell named(const RowOf<First>& row, const trace::Trace& trace) {
  return trace.names[member<First, Rest...>(row)];
}
/// ns, of an interval.
template <auto First, auto... Rest>
ProfileCell length(const RowOf<First>& row, const trace::Trace&) {
  const std::optional<trace::Interval> time = member<First, Rest...>(row);
  return time ? cell_of(time->length()) : ProfileCell();
}
/// The process and the thread of a global thread id, as the operating system numbers them.
template <auto First, auto... Rest>
ProfileCell process(const RowOf<First>& row, const trace::Trace&) {
  return trace::nsys::native_process(member<First, Rest...>(row));
}
template <auto First, auto... Rest>
ProfileCell thread(const RowOf<First>& row, const trace::Trace&) {
  return trace::nsys::native_thread(member<First, Rest...>(row));
}

/// Of a range, which may have none.
template <auto First, auto... Rest>
ProfileCell style(const RowOf<First>& row, const trace::Trace&) {
  const std::optional<trace::RangeStyle> of = member<First, Rest...>(row);
  return of ? ProfileCell(style_text(*of)) : ProfileCell();
}
/// What nsys knows and a trace does not.
template <class Row>
ProfileCell nothing(const Row&, const trace::Trace&) {
  return {};
}

/// Avg, Med, Min, Max and StdDev of a row's Spread of times, ns, each after a prefix.
template <auto First, auto... Rest>
void add_spread(std::vector<TableColumn<RowOf<First>>>& columns, const std::string& prefix = {}) {
  columns.push_back({rounded(prefix + "Avg", "ns", 1), plain<First, Rest..., &Spread::average>});
  columns.push_back({rounded(prefix + "Med", "ns", 1), plain<First, Rest..., &Spread::median>});
  columns.push_back({whole(prefix + "Min", "ns"), plain<First, Rest..., &Spread::smallest>});
  columns.push_back({whole(prefix + "Max", "ns"), plain<First, Rest..., &Spread::largest>});
  columns.push_back({rounded(prefix + "StdDev", "ns", 1), plain<First, Rest..., &Spread::deviation>});
}

/// The table of a report without columns and rows.
[[nodiscard]] ProfileTable empty_table(const ProfileReport& report);

/// A table of rows, whose cells are made when they are asked for.
template <class Row>
[[nodiscard]] ProfileTable table_of(const ProfileReport& report, const trace::Trace& trace,
                                    std::vector<TableColumn<Row>> columns, std::vector<Row> rows) {
  ProfileTable table = empty_table(report);
  std::vector<decltype(TableColumn<Row>::cell)> cells;
  for (TableColumn<Row>& column : columns) {
    table.columns.push_back(std::move(column.head));
    cells.push_back(column.cell);
  }
  table.rows = rows.size();
  const auto kept = std::make_shared<const std::vector<Row>>(std::move(rows));
  table.row = [kept, cells, &trace](std::size_t index) {
    ProfileRow row;
    row.reserve(cells.size());
    for (const auto cell : cells) row.push_back(cell((*kept)[index], trace));
    return row;
  };
  return table;
}

/// Rows that share a name, or a grid, with the spread of their durations. What a table does not group by is
/// empty.
struct Summed {
  Spread time{};
  std::string name{};
  std::string category{};
  std::string grid{};
  std::string block{};
  std::string style{};
  double share = 0;  ///< % of the time of all; summary()'s
};

/// The longest first; ties in an order that does not depend on the file.
void sort_by_total(std::vector<Summed>& groups);

/// Time (%), Total Time, `count`, Avg, Med, Min, Max, StdDev, then `labels`: the longest first.
[[nodiscard]] ProfileTable summary(const ProfileReport& report, const trace::Trace& trace,
                                   const std::string& count, std::vector<TableColumn<Summed>> labels,
                                   std::vector<Summed> groups);

/// Each a kind of table; report/trace/profile_tables.cpp lists them.
ProfileTable launch_sum(const ProfileReport& report, const trace::Trace& trace, const ProfileScope& scope);
ProfileTable launch_trace(const ProfileReport& report, const trace::Trace& trace, const ProfileScope& scope);
ProfileTable call_trace(const ProfileReport& report, const trace::Trace& trace, const ProfileScope& scope);
ProfileTable range_sum(const ProfileReport& report, const trace::Trace& trace, const ProfileScope& scope);
ProfileTable push_pop_trace(const ProfileReport& report, const trace::Trace& trace,
                            const ProfileScope& scope);
ProfileTable projection_sum(const ProfileReport& report, const trace::Trace& trace,
                            const ProfileScope& scope);
ProfileTable projection_trace(const ProfileReport& report, const trace::Trace& trace,
                              const ProfileScope& scope);
/// Which no report of nsys has.
ProfileTable graph_capture_sum(const ProfileReport& report, const trace::Trace& trace,
                               const ProfileScope& scope);
/// "MPI"
[[nodiscard]] std::string_view kind_label(trace::TallyKind kind);
/// Which no report of nsys has.
ProfileTable others_sum(const ProfileReport& report, const trace::Trace& trace, const ProfileScope& scope);

}  // namespace mprof::profile
