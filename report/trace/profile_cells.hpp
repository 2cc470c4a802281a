// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>

#include "report/trace/profile_tables.hpp"

/// Cells of a finished table by the heads of their columns.
namespace mprof {

/// Throws std::logic_error where the table has no such column.
[[nodiscard]] std::size_t column_of(const ProfileTable& table, std::string_view head);
/// A row's cell below a head: "Name".
[[nodiscard]] const ProfileCell& cell_below(const ProfileTable& table, std::string_view head,
                                            const ProfileRow& row);

}  // namespace mprof
