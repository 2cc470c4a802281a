// SPDX-License-Identifier: MIT
#include "report/trace/profile_cells.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

namespace mprof {

std::size_t column_of(const ProfileTable& table, std::string_view head) {
  const auto found = std::ranges::find(table.columns, head, &ProfileColumn::head);
  if (found == table.columns.end())
    throw std::logic_error(fmt::format("the table {} has no column {}", table.name, head));
  return static_cast<std::size_t>(found - table.columns.begin());
}

const ProfileCell& cell_below(const ProfileTable& table, std::string_view head, const ProfileRow& row) {
  return row[column_of(table, head)];
}

}  // namespace mprof
