#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/trace/profile_tables.hpp"

/// What the tables of a profile are put together from.
namespace mprof::profile {

[[nodiscard]] ProfileColumn words(std::string head);
[[nodiscard]] ProfileColumn whole(std::string head, std::string unit = {});
[[nodiscard]] ProfileColumn rounded(std::string head, std::string unit, int decimals);

/// The table of a report without columns and rows.
[[nodiscard]] ProfileTable empty_table(const ProfileReport& report);
/// A table that keeps its rows.
[[nodiscard]] ProfileTable with_rows(ProfileTable table, std::vector<ProfileRow> rows);

/// Rows that share their last cells (a name, a grid), with the spread of their durations.
struct Summed {
  Spread time;
  ProfileRow labels;
};

/// The longest first; ties in an order that does not depend on the file.
void sort_by_total(std::vector<Summed>& groups);

/// Time (%), Total Time, `count`, Avg, Med, Min, Max, StdDev, then `labels`: the longest first.
[[nodiscard]] ProfileTable summary(const ProfileReport& report, const std::string& count,
                                   std::vector<ProfileColumn> labels, std::vector<Summed> groups);

/// As nsys prints them, so that figures stand under each other; empty where it is not known.
[[nodiscard]] std::string size_text(const std::optional<trace::Size>& size);

/// "PushPop", "StartEnd"
[[nodiscard]] std::string style_text(trace::RangeStyle style);

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

}  // namespace mprof::profile
