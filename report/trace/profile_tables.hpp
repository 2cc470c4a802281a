// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "model/trace/reader.hpp"

/// The tables of a profile: what a trace says, with the names, columns and figures of `nsys stats`.
namespace mprof {

/// Nothing, a whole number, a number that its column rounds, or words.
using ProfileCell = std::variant<std::monostate, std::int64_t, double, std::string>;
using ProfileRow = std::vector<ProfileCell>;

struct ProfileColumn {
  std::string head;
  std::string unit{};  ///< "ns", "MB", "%": stands in brackets behind the head
  int decimals = 0;
  bool words = false;

  [[nodiscard]] std::string title() const { return unit.empty() ? head : head + " (" + unit + ")"; }
};

struct ProfileTable {
  std::string name;   ///< cuda_gpu_kern_sum
  std::string title;  ///< CUDA GPU Kernel Summary
  std::string empty;  ///< what to say when there are no rows
  std::vector<ProfileColumn> columns;
  std::size_t rows = 0;
  /// The row at an index: a trace has too many of them to keep as cells. The trace must outlive it.
  std::function<ProfileRow(std::size_t)> row;
};

/// All of a trace, or one of its cases.
struct ProfileScope {
  std::optional<trace::CaseIndex> only{};
  /// With more names of ranges than this, names that differ only in numbers are one row, "step #". The
  /// shortest of what is left are one row. 0: each name has its row.
  std::size_t most_range_names = 0;

  /// The rows of a trace's table that it holds: the rows of a case stand together there.
  template <class Row>
  [[nodiscard]] std::span<const Row> of(const std::vector<Row>& rows) const {
    return only ? trace::of_case(rows, *only) : std::span<const Row>(rows);
  }
  [[nodiscard]] trace::Kernels::Span of(const trace::Kernels& kernels) const {
    return only ? trace::of_case(kernels, *only) : trace::Kernels::Span(kernels, 0, kernels.size());
  }
  /// The index of the first of them.
  template <class Row>
  [[nodiscard]] std::uint32_t first_of(const std::vector<Row>& rows) const {
    return static_cast<std::uint32_t>(of(rows).data() - rows.data());
  }
};

/// A kind of table that there is.
struct ProfileReport {
  std::string_view name;
  std::string_view older_name;  ///< what nsys called it before 2022.4
  trace::Parts reads;
  ProfileTable (*make)(const ProfileReport& report, const trace::Trace& trace, const ProfileScope& scope);
  std::string_view title;
  std::string_view empty;

  [[nodiscard]] ProfileTable table(const trace::Trace& trace, const ProfileScope& scope = {}) const {
    return make(*this, trace, scope);
  }
};

/// In the order of the documentation.
[[nodiscard]] std::span<const ProfileReport> profile_reports();

/// Durations in nanoseconds by name, taken up while rows are read.
using TimesByName = std::unordered_map<trace::NameIndex, std::vector<std::int64_t>>;

/// The table cuda_api_sum of calls that no trace holds.
[[nodiscard]] ProfileTable api_table(const trace::Trace& trace, TimesByName times);

/// By its name or its older one; throws Error(usage) with the nearest names.
[[nodiscard]] const ProfileReport& profile_report(std::string_view name);

/// What a table's rows have in common: their times, or their sizes.
struct Spread {
  std::int64_t total = 0;
  std::int64_t count = 0;
  double average = 0;
  double median = 0;
  std::int64_t smallest = 0;
  std::int64_t largest = 0;
  double deviation = 0;  ///< of a sample; 0 for a single value, as in nsys
};

/// `values` must not be empty; they are reordered.
[[nodiscard]] Spread spread_of(std::vector<std::int64_t>& values);

/// The first rows of a table by time that together take more than `share` of its time, with a column for the
/// cumulative share.
[[nodiscard]] ProfileTable leading_rows(const ProfileTable& table, double share);

/// The same table with each kernel called by its own name, template arguments only where two would be called
/// alike.
[[nodiscard]] ProfileTable with_brief_kernel_names(ProfileTable table);

}  // namespace mprof
